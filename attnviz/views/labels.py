"""What pictures of a map say: titles, axis titles, and tokens made safe for Plotly."""

import html
from dataclasses import dataclass

from attnviz.text.entries import entry_of

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', 'Noto Sans CJK SC', sans-serif"
MAX_TICKS, MAX_LABEL = 48, 28
MEASURES = {"weight": "weight", "norm": "‖α f(x)‖", "share": "share of the output"}  # what a map's cell may hold


@dataclass(frozen=True)
class KindWords:
    """One kind of attention in words: its name, what a row does, what is along both axes, its name on a tab."""

    name: str
    question: str
    query: str
    key: str
    tab: str


KINDS = {
    "encoder_self": KindWords(
        "Encoder self-attention", "which token each token looks at", "token", "token", "Encoder self"
    ),
    "decoder_self": KindWords(
        "Decoder self-attention",
        "which earlier token each step looks at",
        "step: input → output",
        "input token",
        "Decoder self",
    ),
    "cross": KindWords(
        "Cross-attention",
        "which source token each step looks at",
        "decoder step: input → output",
        "source token",
        "Cross",
    ),
}


def escaped(text: str) -> str:
    """Text that Plotly shows as it is: it would read `<b>`, `&amp;` and `$x$` as markup."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def hover_name(text: str, more: str = "") -> str:
    """A label as a note on hover says it, `more` behind it; piece and id of its tokens follow, where it knows them."""
    said, entry = escaped(f"{text}{more}"), entry_of(text)
    return f"{said}<br><span style='font-size:10px'>{escaped(entry)}</span>" if entry else said


def shortened(text: str, limit: int = MAX_LABEL) -> str:
    """At most `limit` characters, the last one "…" where some are missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def head_name(layer: int | str, head: int | str) -> str:
    """`L2 H5`, or which mean it is."""
    if layer == "mean" and head == "mean":
        return "mean of all layers and heads"
    if head == "mean":
        return f"L{layer}, mean of heads"
    return f"H{head}, mean of layers" if layer == "mean" else f"L{layer} H{head}"


def map_title(kind: str, layer: int | str, head: int | str) -> str:
    """What a map draws: "Cross-attention, L2 H5: which source token each step looks at"."""
    return f"{KINDS[kind].name}, {head_name(layer, head)}: {KINDS[kind].question}"


def ticks(labels: list[str], *, most: int = MAX_TICKS) -> dict[str, list]:
    """Plotly's tickvals and ticktext for integer positions, thinned to at most `most` labels.

    Positions, not the labels themselves, are the axis: equal tokens would fall on one place.
    """
    places = list(range(0, len(labels), -(-len(labels) // most) or 1))
    return {"tickvals": places, "ticktext": [escaped(shortened(labels[at])) for at in places]}
