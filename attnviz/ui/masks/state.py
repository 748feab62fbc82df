"""What a link to the Masks page carries, as texts, and what is said of texts that cannot be followed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch

from attnviz.analysis.masks.fills import DTYPES, FILLS, FillChoice
from attnviz.analysis.masks.mask_spec import RULES, MaskSpec, Rule
from attnviz.pictures import fields
from attnviz.pictures.fields import PageState, Problem, Say, SiteBounds
from attnviz.transformer.probe import Kind
from attnviz.ui.address.painted_mask import painting_of_text

SCOPES = ("head", "layer", "kind")
TABS = {
    "pipeline": "Pipeline",
    "says": "What it would say",
    "fills": "All fills",
    "leak": "Leak test",
    "rows": "Row by row",
    "broadcast": "Broadcast",
}
MAX_SECOND = 200
LEAST_FILL, MOST_FILL = -40.0, 10.0  # a finite number in masked cells


def rules_to_text(rules: tuple[tuple[str, tuple[int | float, ...]], ...]) -> str:
    """Such as `causal~window_2~random_0.7_3`; "none" where there is no rule."""
    return "~".join("_".join((name, *(f"{number:g}" for number in numbers))) for name, numbers in rules) or "none"


def _rules(text: str, bound: object, default: object, say: Say) -> tuple[tuple[str, tuple[int | float, ...]], ...]:
    parts = [] if text == "none" else [_rule(part) for part in text.split("~")[:16]]
    for part in (part for part in parts if isinstance(part, str)):
        say(f"rules are {', '.join(RULES)}, with their numbers", "the mask without it", part)
    return tuple(dict(part for part in parts if not isinstance(part, str)).items())


def _paint(text: str, bound: object, default: str, say: Say) -> str:
    try:
        painting_of_text(text)
    except ValueError as error:
        say(sentence=str(error))
        return default
    return text


def _rule(part: str) -> tuple[str, tuple[int | float, ...]] | str:
    """A rule with its numbers, or the text itself where it is none."""
    name, *texts = part.split("_")
    rule = RULES.get(name)
    if rule is None or len(texts) not in (0, len(rule.numbers)):
        return part
    try:
        numbers = tuple(float(text) for text in texts) or rule.defaults
    except ValueError:
        return part
    return (name, fitting(rule, numbers)) if all(map(math.isfinite, numbers)) else part


def fitting(rule: Rule, numbers: tuple[int | float, ...]) -> tuple[int | float, ...]:
    """Numbers within their ranges, whole where they count something."""
    within = zip(rule.numbers, numbers, strict=True)
    return tuple(
        min(max(value, n.least), n.most) if n.is_share else int(min(max(value, n.least), n.most)) for n, value in within
    )


@dataclass(frozen=True)
class MasksState(PageState):
    """Everything that a picture on the Masks page depends on, besides the sentence and the model.

    `rules` are (name, numbers); `zoom` is the part of the maps that is drawn: first row, row after the last, first key,
    key after the last; `paint` is the painted mask as text; `item` is the sentence of the batch that is shown;
    `second` the sentence that joins the batch, "" for none; `at` and `instead` are the leak test's position and what
    is put there.
    """

    kind: Kind = fields.choice("decoder_self")
    layer: int = fields.index(of="layer")
    head: int = fields.index(of="head")
    row: int | None = fields.whole()
    zoom: tuple[int, int, int, int] | None = fields.window()
    rules: tuple[tuple[str, tuple[int | float, ...]], ...] = fields.declared((), _rules, rules_to_text, name="masks")
    paint: str = fields.declared("", _paint)
    fill: str = fields.choice("-inf", FILLS)
    number: float = fields.number(-10.0, LEAST_FILL, MOST_FILL)
    dtype: str = fields.choice("float32", DTYPES)
    scope: str = fields.choice("head", SCOPES)
    tab: str = fields.choice("pipeline", tuple(TABS))
    second: str = fields.text(limit=MAX_SECOND)
    item: int = fields.whole(0, 2)
    step: int | None = fields.whole()
    arrived: int = fields.whole(2, 100)
    at: int | None = fields.whole()
    instead: str = fields.text(limit=MAX_SECOND)

    @property
    def choice(self) -> FillChoice:
        """Fill and dtype."""
        return FillChoice(self.fill, self.dtype, self.number)

    @property
    def recipe(self) -> MaskSpec:
        """The mask that is asked for."""
        painted = painting_of_text(self.paint)
        return MaskSpec(dict(self.rules), None if painted is None else torch.from_numpy(painted))


def view_of(params: Mapping[str, str], bounds: SiteBounds) -> tuple[MasksState, tuple[Problem, ...]]:
    """The view that texts ask for, and a sentence for each that asks for something that is not there.

    A missing text means the default, a bad one falls back to it, and the others still count.
    """
    first = "decoder_self" if "decoder_self" in bounds.shapes else next(iter(bounds.shapes))
    view, problems = fields.read(MasksState, params, bounds.by_field(), MasksState(kind=first))  # type: ignore[arg-type]
    if view.kind == "decoder_self" and not params.get("masks"):  # as every decoder is masked
        view = replace(view, rules=(("causal", ()),))
    return view if view.second.strip() else replace(view, item=0), problems
