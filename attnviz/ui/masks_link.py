"""What a link to the Masks page carries, as texts, and what is said of texts that cannot be followed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from attnviz.analysis.fills import DTYPES, FILLS, Choice
from attnviz.analysis.mask_recipe import RULES, Recipe, Rule
from attnviz.transformer.probe import Kind
from attnviz.ui.choices import Reader
from attnviz.views.painting import painting_of_text

SCOPES = ("head", "layer", "kind")
ROOMS = {
    "pipeline": "Pipeline",
    "says": "What it would say",
    "fills": "All fills",
    "leak": "Leak test",
    "rows": "Row by row",
    "broadcast": "Broadcast",
}
MAX_SECOND = 200
LEAST_FILL, MOST_FILL = -40.0, 10.0  # a finite number in masked cells


@dataclass(frozen=True)
class MaskView:
    """Everything that a picture on the Masks page depends on, besides the sentence and the model.

    `rules` are (name, numbers); `zoom` is the part of the maps that is drawn: first row, row after the last, first key,
    key after the last; `paint` is the painted mask as text; `item` is the sentence of the batch that is shown;
    `second` the sentence that joins the batch, "" for none; `at` and `other` are the leak test's position and text.
    """

    kind: Kind = "decoder_self"
    layer: int = 0
    head: int = 0
    row: int | None = None
    zoom: tuple[int, int, int, int] | None = None
    rules: tuple[tuple[str, tuple[int | float, ...]], ...] = ()
    paint: str = ""
    fill: str = "-inf"
    number: float = -10.0
    dtype: str = "float32"
    scope: str = "head"
    room: str = "pipeline"
    second: str = ""
    item: int = 0
    step: int | None = None
    arrived: int = 2
    at: int | None = None
    other: str = ""

    @property
    def choice(self) -> Choice:
        """Fill and dtype."""
        return Choice(self.fill, self.dtype, self.number)

    @property
    def recipe(self) -> Recipe:
        """The mask that is asked for."""
        painted = painting_of_text(self.paint)
        return Recipe(dict(self.rules), None if painted is None else torch.from_numpy(painted))

    def to_params(self) -> dict[str, str]:
        """Every field as the text that stands in a link."""
        plain = {name: getattr(self, name) for name in FIELDS if name not in ("masks", "zoom")}
        texts = {name: "" if value is None else str(value) for name, value in plain.items()}
        return texts | {"masks": rules_to_text(self.rules), "zoom": ".".join(map(str, self.zoom or ()))}


FIELDS = (
    "kind", "layer", "head", "row", "zoom", "masks", "paint", "fill", "number", "dtype", "scope", "room", "second",
    "item", "step", "arrived", "at", "other",
)  # fmt: skip


def rules_to_text(rules: tuple[tuple[str, tuple[int | float, ...]], ...]) -> str:
    """Such as `causal~window_2~random_0.7_3`; "none" where there is no rule."""
    return "~".join("_".join((name, *(f"{number:g}" for number in numbers))) for name, numbers in rules) or "none"


@dataclass
class MaskBounds:
    """What there is to choose from in a trace."""

    kinds: tuple[Kind, ...]
    n_layers: int
    n_heads: int
    start: Mapping[str, object] = field(default_factory=dict)
    shapes: Mapping[Kind, tuple[int, int]] = field(default_factory=dict)  # of kinds that have other numbers

    def of(self, kind: Kind) -> tuple[int, int]:
        """Layers and heads of a kind."""
        return self.shapes.get(kind, (self.n_layers, self.n_heads))


def view_of(params: Mapping[str, str], bounds: MaskBounds) -> tuple[MaskView, tuple[str, ...]]:
    """The view that texts ask for, and a sentence for each that asks for something that is not there.

    A missing text means the default, a bad one falls back to it, and the others still count.
    """
    read = Reader(params)
    kind: Kind = read.one_of("kind", bounds.kinds, _first_kind(bounds))  # type: ignore[assignment]
    second = params.get("second", "")[:MAX_SECOND]
    layers, heads = bounds.of(kind)
    view = MaskView(
        kind=kind,
        layer=read.index("layer", layers),
        head=read.index("head", heads),
        row=read.whole("row", 10_000),
        zoom=read.zoom(),
        rules=_rules(read, (("causal", ()),) if kind == "decoder_self" else ()),
        paint=_paint(read),
        fill=read.one_of("fill", FILLS, "-inf"),
        number=read.number("number", -10.0, least=LEAST_FILL, most=MOST_FILL),
        dtype=read.one_of("dtype", DTYPES, "float32"),
        scope=read.one_of("scope", SCOPES, "head"),
        room=read.one_of("room", tuple(ROOMS), "pipeline"),
        second=second,
        item=(read.whole("item", 2, 0) or 0) if second.strip() else 0,
        step=read.whole("step", 10_000),
        arrived=read.whole("arrived", 100, 2) or 2,
        at=read.whole("at", 10_000),
        other=params.get("other", "")[:MAX_SECOND],
    )
    return view, tuple(read.problems)


def _first_kind(bounds: MaskBounds) -> Kind:
    return "decoder_self" if "decoder_self" in bounds.kinds else bounds.kinds[0]


def _rules(read: Reader, default: tuple) -> tuple[tuple[str, tuple[int | float, ...]], ...]:
    text = read.params.get("masks", "")
    if not text:
        return default
    parts = [] if text == "none" else [_rule(part) for part in text.split("~")[:16]]
    for part in (part for part in parts if isinstance(part, str)):
        read.say("masks", f"rules are {', '.join(RULES)}, with their numbers", "the mask without it", part=part)
    return tuple(dict(part for part in parts if not isinstance(part, str)).items())


def _paint(read: Reader) -> str:
    text = read.params.get("paint", "")
    try:
        painting_of_text(text)
    except ValueError as error:
        read.problems.append(str(error))
        return ""
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
