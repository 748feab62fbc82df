"""The two sides of a comparison, for pages and files: their names, and what is held fixed between them."""

from dataclasses import replace

import torch

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.analysis.mask_spec import RULES as MASK_RULES
from attnviz.analysis.mask_spec import MaskSpec
from attnviz.analysis.rerun import write_again
from attnviz.causes.compared.compared import Side
from attnviz.kit.caching import Cache, make_anew
from attnviz.kit.views.labels import KINDS
from attnviz.models.protocol import Model
from attnviz.tracing.interventions import MaskOverride
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind, Site

FIXED_FOR_SENTENCES = (
    "Held fixed: model, language and changes to the run. Each sentence has the target that the model writes."
)
FIXED_FOR_IMAGES = "Held fixed: model and changes to the run. Rows and columns are paired by their place in the image."
FIXED_FOR_LANGUAGES = (
    "Held fixed: model, source and changes to the run. Each language has the target that the model writes."
)
FIXED_FOR_MODELS = (
    "Held fixed: the source text. The vocabularies of the models may differ, so tokens are merged "
    "into words, and words are compared. Changes to the run apply only to the first model."
)
_FIXED_FOR_CHANGES = (
    "Held fixed: model, source and target. Both maps use the target of the unchanged run, so that their rows can be "
    "compared. The texts are what each run writes by itself."
)
PAIRS = {  # partners of the example sentences, each with one word changed
    "I love you.": "I love him.",
    "Machine learning is fun.": "Machine learning is hard.",
    "A big red dog jumped over a small pond.": "A big black dog jumped over a small pond.",
    "The animal didn't cross the street because it was too tired.":
        "The animal didn't cross the street because it was too wide.",
    "The cat is sleeping on the table.": "The cat is sleeping under the table.",
    "Tom gave Mary the book yesterday.": "Mary gave Tom the book yesterday.",
    "She doesn't know where he lives.": "She doesn't know where she lives.",
    "I have never been to New York.": "I have often been to New York.",
    "This book is easier to read than that one.": "This car is easier to drive than that one.",
    "There are many old houses in this town.": "There are many old houses in that town.",
    "If I had money, I would buy a bigger house.": "If I had money, I would buy a smaller house.",
    "Nobody knows why she left so early.": "Everybody knows why she left so early.",
}  # fmt: skip


def other_sentence(src: str, said: str) -> str:
    """Return the second sentence: the typed one, else the example's partner, else the first sentence itself."""
    return said.strip() or PAIRS.get(src, src)


def side(name: str, model: Model, trace: Trace, fixed: str = "") -> Side:
    """Make one `Side` of a comparison from a run; it includes the text that the model writes, if it writes any."""
    return Side(name, model, trace, trace.tgt_text if model.writes else "", fixed)


def other_language(model: Model, here: str, said: str) -> str:
    """Return the second language: the requested one, or the model's first language other than `here`."""
    languages = [to for to in model.languages if to != here]
    return said if said in languages else languages[0]


def changed_sides(model: Model, plain: Trace, trace: Trace) -> tuple[Side, Side]:
    """Return two sides to compare: the unchanged run `plain`, and a run on the same tokens with the interventions of
    `trace`.
    """
    done = trace.interventions
    again = plain if not done else model.rerun(replace(plain, interventions=done))
    texts = (plain.tgt_text, trace.tgt_text) if model.writes else ("", "")
    return (
        Side("unchanged", model, plain, texts[0]),
        Side("with the changes", model, again, texts[1], _FIXED_FOR_CHANGES),
    )


def masked_sides(
    model: Model, trace: Trace, kind: str, rule: str, *, cached: Cache = make_anew, work: Cancellable = TO_THE_END
) -> tuple[Side, Side]:
    """Return the run as it is, and the run with a rule's mask in every layer of one attention kind.

    `work` is called before each pass. Raise ValueError with a message of one sentence for a mask that torch refuses.
    """
    focused: Kind = kind if kind in trace.kinds else trace.kinds[0]  # type: ignore[assignment]
    spec = MaskSpec({} if rule == "none" else {rule: MASK_RULES[rule].defaults})
    ahead = focused == "decoder_self" and bool(spec.build(2, 2)[0, 0, 1])

    def mask(q_len: int, k_len: int) -> torch.Tensor:
        return spec.build(q_len, k_len)

    probe = MaskOverride([Site(focused, layer) for layer in range(trace.shape(focused)[0])], mask)

    def write() -> str:
        return write_again(model, trace, probe, cached=not ahead, work=work)[0].text

    try:
        written = cached("text under a mask", (trace, focused, rule), write) if model.writes else ""
        after = cached("masked run", (trace, focused, rule), lambda: model.rerun(trace, probe))
    except RuntimeError as why:
        raise ValueError(f"torch refuses that mask: {str(why).strip().splitlines()[0]}") from None
    done = "left out" if rule == "none" else "replaced by this mask"
    fixed = (
        f"Held fixed: model, source and target. The model's own mask is {done} in every layer of "
        f"{KINDS[focused].name.lower()}; the text is written anew."
    )
    return side("unchanged", model, trace), Side(rule_name(rule), model, after, written, fixed)


def rule_name(rule: str) -> str:
    """Return the name of a mask rule, and which keys it lets a query see."""
    return "no mask: every key" if rule == "none" else f"{rule}: {MASK_RULES[rule].sees}"
