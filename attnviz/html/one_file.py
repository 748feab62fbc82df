"""One HTML file that shows pictures without Python and without a network.

Bytes are deflated, in base64, beside their picture; each widget that draws is there once, deflated, too. A policy in
the file's head forbids every request. Only captions and titles are markup, and escaped; a sentence is data.
"""

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from html import escape

from attnviz.extras import needs
from attnviz.html.byte_planes import in_planes
from attnviz.pictures.shown.registry import ShownPicture
from attnviz.tracing.trace_like import TraceLike
from attnviz.views.captions import Caption
from attnviz.widgets.bundle import file_figure, file_page, fill_places, source
from attnviz.widgets.wire import Payload

LONGEST, MANY = 400, 72  # tokens, in so many heads; of longer texts fewer heads
ROUNDED = "Weights are rounded to one part in 65,535."


def one_file(parts: ShownPicture | Sequence[str | ShownPicture], *, title: str = "") -> str:
    """Return the HTML of a picture, or of several with texts in Markdown between them.

    Raises ValueError, with one sentence, for a text that is too long for a file.
    """
    parts = [parts] if isinstance(parts, ShownPicture) else parts
    pictures = [part for part in parts if isinstance(part, ShownPicture)]
    for shown in pictures:
        require_room(shown.subject.trace)
    payloads = {id(shown): shown.lacking().payload() for shown in pictures}
    sentences = filter(None, (_caption(made).sentence for made in payloads.values()))
    name = title or next(sentences, pictures[0].picture.title)
    content = [
        _markdown(part) if isinstance(part, str) else _figure(part.picture.widget, payloads[id(part)]) for part in parts
    ]
    if not any("<h1>" in part for part in content):
        content.insert(0, f'<h1 class="{"seen" if title and len(parts) > 1 else "unseen"}">{escape(name)}</h1>')
    if len(parts) > 1:
        content = ['<div class="page">', *content, "</div>"]
    names = dict.fromkeys(shown.picture.widget for shown in pictures)
    return fill_places(
        file_page(),
        {
            "title": escape(name),
            "content": "\n".join(content),
            "widgets": "\n".join(map(_widget, names)),
        },
    )


def require_room(trace: TraceLike | None) -> None:
    """Raise ValueError for a text of more than `LONGEST` tokens, but for as few of its heads as take no more room."""
    if trace is None:
        return
    length = max(len(tokens(kind)) for kind in trace.kinds for tokens in (trace.query_tokens, trace.key_tokens))
    heads = sum(math.prod(trace.shape(kind)) for kind in trace.kinds)
    if length > LONGEST and heads * length**2 > MANY * LONGEST**2:
        fewer = f", or write fewer of its {heads} heads: trace.one_layer({trace.kinds[-1]!r}, 0, 0).to_html(…)"
        raise ValueError(
            f"A file holds up to {LONGEST} tokens, and this text has {length:,}. Trace a shorter text"
            f"{fewer if heads > 1 else ''}."
        )


def _figure(widget: str, payload: Payload) -> str:
    packed, spans = in_planes(payload)
    lines = _caption(payload).lines() + ([ROUNDED] if any(width == 2 for *_, width in spans) else [])
    return fill_places(
        file_figure(),
        {
            "widget": widget,
            "planes": json.dumps(spans),
            "bytes": deflated(packed),
            "caption": "".join(f"<p>{escape(line)}</p>" for line in lines),
        },
    )


def _widget(name: str) -> str:
    made = source(name)
    told: Mapping[str, str] = {"html": made.html, "style": made.style, "module": made.module}
    return f'<script type="text/plain" data-source="{name}">{deflated(json.dumps(told).encode())}</script>'


def _caption(payload: Payload) -> Caption:
    return Caption(**payload.header["caption"])


def _markdown(text: str) -> str:
    """Render Markdown; HTML in it stays text."""
    with needs("app", "Text on a page"):
        from markdown_it import MarkdownIt
    return MarkdownIt("commonmark", {"html": False}).enable("table").render(text).strip()


def deflated(content: bytes) -> str:
    """Deflate bytes, and write them in base64."""
    return base64.b64encode(zlib.compress(content)).decode()
