"""Facts about a loaded model, read from the model and a trace of it, never from its name. Unknown facts are
left out.
"""

from dataclasses import dataclass

from attnviz.models.card import card, pruning_facts
from attnviz.models.catalogue import TOY
from attnviz.models.example_images import offered_titles
from attnviz.models.plans import key_groups
from attnviz.models.protocol import Model
from attnviz.models.toy.image_toy import ImageToy
from attnviz.models.toy.toy import Toy
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Kind

Facts = dict[str, str]
_KINDS: dict[Kind, str] = {
    "encoder_self": "encoder self-attention",
    "decoder_self": "decoder self-attention",
    "cross": "cross-attention",
}


@dataclass(frozen=True)
class Section:
    """A group of facts with a title; each fact maps a name to a value."""

    title: str
    facts: Facts


def sections(model: Model, trace: Trace) -> tuple[Section, ...]:
    """Return all facts about a model in sections; `trace` is any trace of it."""
    if isinstance(model, Translator):
        own = _translator_facts(model)
    else:
        own = _toy_facts(model) if isinstance(model, Toy | ImageToy) else _checkpoint_facts(model)
    folder = getattr(model, "folder", None)
    found = card(folder)
    left = pruning_facts(folder, model.model_id) if isinstance(model, Translator) else {}
    made = (
        Section("Model", {"name": model.name} | own["model"] | {"weights": model.model_id}),
        Section("Attention", _attention(trace) | own["attention"]),
        Section("Text", own["text"]),
        Section("Size", _size(model)),
        Section("Card", found.facts | ({"from its card": found.words} if found.words else {})),
        Section("Heads removed", left),
    )
    return tuple(section for section in made if section.facts)


def _attention(trace: Trace) -> Facts:
    """Return the numbers of layers and heads, their size, and how many heads share keys, for each kind."""
    found: Facts = {}
    for kind in trace.kinds:
        layers, heads = trace.shape(kind)
        found[_KINDS[kind]] = f"{layers} {_plural('layer', layers)} × {heads} {_plural('head', heads)}"
        if not trace.weights_only and (call := trace.call(kind, 0)).has_queries:
            found[_KINDS[kind]] += f", d_k {call.query.shape[3]}, {_groups(call)}"
    if trace.weights_only:  # no queries and keys to read the rest from
        return found
    found |= _scores([call for call in trace.calls.values() if call.has_queries])
    if trace.layers:
        found["d_model"] = f"{next(iter(trace.layers.values())).shape[-1]:,}"
    return found


def _scores(calls: list[AttentionCall]) -> Facts:
    """Return how scores are computed from queries and keys, for calls whose queries and keys are known."""
    if not calls:
        return {"scores": "not a multiple of query · key"}
    scales = {round(call.scale * call.query.shape[3] ** 0.5, 6) for call in calls}
    found = {"scores": "query · key / √d_k" if scales == {1.0} else _scales({call.scale for call in calls})}
    if any(call.bias is not None for call in calls):
        found["added to the scores"] = "the model's own bias"
    return found


def _groups(call: AttentionCall) -> str:
    """Return a phrase that says how many heads share keys and values."""
    groups, heads = key_groups(call), call.key.shape[1]
    if groups == heads:
        return "each head has its own keys" if heads > 1 else "one head"
    return f"{groups} {_plural('group', groups)} of keys, {heads // groups} heads each"


def _scales(scales: set[float]) -> str:
    few = ", ".join(f"{scale:.6g}" for scale in sorted(scales)[:4])
    return "query · key" if scales == {1.0} else f"query · key × {few}"


def _size(model: Model) -> Facts:
    numbers = model.n_parameters
    is_own = isinstance(model, Translator | Toy | ImageToy)
    network = model.model if is_own else model.torch_module  # type: ignore[attr-defined]
    held = sum(part.numel() * part.element_size() for part in network.parameters())
    return {
        "parameters": f"{numbers:,}",
        "in memory": f"{held / 1e6:,.1f} MB" if held < 1e9 else f"{held / 1e9:,.2f} GB",
        "computes in": f"{str(model.dtype).removeprefix('torch.')} on {model.device.type}",
    }


def _translator_facts(model: Translator) -> dict[str, Facts]:
    config, codec = model.model.config, model.codec
    return {
        "model": {
            "architecture": "encoder and decoder, attnviz's own Transformer",
            "writes": ", ".join(model.languages),
        },
        "attention": {
            "positions": "sinusoidal, added to the embeddings" if config.positions else "none",
            "feed-forward": f"{config.d_ff:,}",
            "normalised": "before each sublayer" if config.norm_first else "after each sublayer",
        },
        "text": {
            "vocabulary": f"{codec.vocab_size:,} pieces, BPE",
            "unknown text": f"{codec.pieces[codec.unk_id]}, id {codec.unk_id}",
        },
    }


def any_input(model: Model) -> str:
    """Return an input that a model reads, for facts that are the same for every input: a text, or an image's name."""
    if model.inputs.is_image:
        return next(iter(offered_titles(TOY if isinstance(model, ImageToy) else "")))
    return model.experiment.toy_task.sample if isinstance(model, Toy) else "Hello."


def _toy_facts(model: Toy | ImageToy) -> dict[str, Facts]:
    experiment, config = model.experiment, model.model.config
    has_positions = "positions" not in experiment.without
    is_image = isinstance(model, ImageToy)
    positions = "a learned vector for each token" if is_image else "sinusoidal, added to the embeddings"
    return {
        "model": {"architecture": "a toy of attnviz, its own Transformer", "learned": experiment.toy_task.title},
        "attention": {"positions": positions if has_positions else "none", "feed-forward": f"{config.d_ff:,}"},
        "text": {"vocabulary": f"{len(experiment.toy_task.words):,} words"} if isinstance(model, Toy) else {},
    }


def _checkpoint_facts(model: Model) -> dict[str, Facts]:
    from attnviz.models.huggingface.checkpoint_facts import checkpoint_facts  # imports transformers

    return checkpoint_facts(model)  # type: ignore[arg-type]


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
