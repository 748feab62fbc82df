"""Texts for pictures of a map: titles, axis titles, and tokens escaped for Plotly."""

import html
from dataclasses import dataclass

from attnviz.text.entries import entry_of

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', 'Noto Sans CJK SC', sans-serif"
MAX_TICKS, MAX_LABEL = 48, 28
MEASURES = {"weight": "weight", "norm": "‖α f(x)‖", "share": "share of the output"}  # the measures of a map's cell


@dataclass(frozen=True)
class KindWords:
    """Words for an attention kind: its name, the question that a row answers, the names of both axes, and its
    name on a tab.
    """

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


def escape_for_plotly(text: str) -> str:
    """Escape text for Plotly, which reads `<b>`, `&amp;` and `$x$` as markup."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def hover_name(text: str, more: str = "") -> str:
    """Return a token's label for a tooltip: its text, `more`, and its vocabulary entries with their ids if known."""
    said, entry = escape_for_plotly(f"{text}{more}"), entry_of(text)
    return f"{said}<br><span style='font-size:10px'>{escape_for_plotly(entry)}</span>" if entry else said


def shorten(text: str, limit: int = MAX_LABEL) -> str:
    """Truncate a text to `limit` characters, with "…" as the last one if any are missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def head_name(layer: int | str, head: int | str) -> str:
    """Return the name of a head, such as `L2 H5`, or of a mean over heads or layers."""
    if layer == "mean" and head == "mean":
        return "mean of all layers and heads"
    if head == "mean":
        return f"L{layer}, mean of heads"
    return f"H{head}, mean of layers" if layer == "mean" else f"L{layer} H{head}"


def map_title(kind: str, layer: int | str, head: int | str) -> str:
    """Return a map's title, such as "Cross-attention, L2 H5: which source token each step looks at"."""
    return f"{KINDS[kind].name}, {head_name(layer, head)}: {KINDS[kind].question}"


def ticks(labels: list[str], *, most: int = MAX_TICKS) -> dict[str, list]:
    """Return Plotly's tickvals and ticktext for integer positions, thinned out to at most `most` labels.

    The axis has positions and not the labels themselves, because equal tokens would share one position.
    """
    places = list(range(0, len(labels), -(-len(labels) // most) or 1))
    return {"tickvals": places, "ticktext": [escape_for_plotly(shorten(labels[at])) for at in places]}
