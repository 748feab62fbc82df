"""Batches of traces of plain texts, whose answers equal single runs'."""

from collections.abc import Hashable, Sequence

from attnviz.engine.message import Message
from attnviz.engine.operations import OPERATIONS
from attnviz.models.inputs import Inputs
from attnviz.models.protocol import Model
from attnviz.models.translator import together
from attnviz.models.translator.translator import Translator
from attnviz.tracing import storage
from attnviz.tracing.split import one_of_batch


def batch_key(model: Model, operation: str, asked: Message) -> Hashable | None:
    """Return the key that requests share if they can run as one batch; None for one that runs alone.

    A translator's sentences into one language do, where the model writes the target; an encoder's single sentences.
    Nothing may be done to such a run: interventions know the positions of one sentence.
    """
    if operation != "trace" or asked.meta.get("interventions"):
        return None
    texts, how = asked.meta["args"], {name: one for name, one in asked.meta["how"].items() if one is not None}
    if len(texts) != 1 or not isinstance(texts[0], str) or not texts[0].strip():
        return None
    if isinstance(model, Translator):
        return ("to", how["to"]) if set(how) == {"to"} else None
    if model.inputs is Inputs.PAIR:
        return tuple(sorted(how.items())) if set(how) <= {"logits", "hidden"} else None
    return None


def run_together(model: Model, asked: Sequence[Message]) -> list[bytes]:
    """Answer requests of one key, in their order."""
    if len(asked) == 1:
        return [OPERATIONS["trace"](model, asked[0])]
    texts, how = [one.meta["args"][0] for one in asked], asked[0].meta["how"]
    if isinstance(model, Translator):
        found = together.traces(model, texts, to=how["to"])
    else:
        batch = model.trace(texts, **how)
        found = [one_of_batch(batch, item, model.is_pad) for item in range(len(texts))]
    return [storage.to_bytes(one) for one in found]
