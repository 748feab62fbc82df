"""One HTML file that shows pictures without Python and without a network.

The data are compressed and base64-encoded beside each picture. Each widget is included once, compressed, and so is each
script and style that several widgets share. A policy in the file's head forbids all requests. Only captions and titles
are markup, and they are escaped; sentences are data.
"""

import base64
import json
import math
import zlib
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.extras import needs
from attnviz.guards import plain_file
from attnviz.guards.arguments import describe, reads_arguments
from attnviz.hosts.registry import picture
from attnviz.kit.bundle import Widget, file_figure, file_page, fill_places, shared_pieces, source
from attnviz.kit.picture import ShownPicture
from attnviz.kit.views.captions import Caption
from attnviz.kit.wire import Payload
from attnviz.tracing.trace_like import TraceLike

LONGEST, MANY = 400, 72  # maximum tokens with up to `MANY` heads; longer texts need fewer heads
ROUNDED = "The weights in this file are rounded to multiples of 1/65,535."
EXACT = 1_350_000  # maximum weights stored as float32: 150 tokens with the translator's 72 heads
Spans = list[list[int]]  # [offset in the packed bytes, number of values, bytes per value] for each map


def one_file(parts: ShownPicture | Sequence[str | ShownPicture], *, title: str = "") -> str:
    """Return the HTML of one picture, or of several with Markdown texts between them.

    Raise ValueError, with one sentence, for a text that is too long for a file.
    """
    parts = [parts] if isinstance(parts, ShownPicture) else parts
    pictures = [part for part in parts if isinstance(part, ShownPicture)]
    for shown in pictures:
        require_room(shown.subject.trace)
    payloads = {id(shown): shown.without_python().payload() for shown in pictures}
    sentences = filter(None, (_caption(made).sentence for made in payloads.values()))
    name = title or next(sentences, pictures[0].picture.title)
    content = [
        _markdown(part) if isinstance(part, str) else _figure(part.picture.widget, payloads[id(part)]) for part in parts
    ]
    if not any("<h1>" in part for part in content):
        content.insert(0, f'<h1 class="{"seen" if title and len(parts) > 1 else "unseen"}">{escape(name)}</h1>')
    if len(parts) > 1:
        content = ['<div class="page">', *content, "</div>"]
    widgets = dict.fromkeys(shown.picture.drawn_by for shown in pictures)
    return fill_places(
        file_page(),
        {
            "title": escape(name),
            "content": "\n".join(content),
            "widgets": _widgets(list(widgets)),
        },
    )


def require_room(trace: TraceLike | None, *, advice: str = "") -> None:
    """Raise ValueError for a text of more than `LONGEST` tokens, unless it has so few heads that the file stays small.

    `advice` says what to do instead, for readers who do not call this from Python.
    """
    if trace is None:
        return
    length = max(len(tokens(kind)) for kind in trace.kinds for tokens in (trace.query_tokens, trace.key_tokens))
    heads = sum(math.prod(trace.shape(kind)) for kind in trace.kinds)
    if length > LONGEST and heads * length**2 > MANY * LONGEST**2:
        said = f"A file can contain up to {LONGEST} tokens, but this text has {length:,}."
        raise ValueError(f"{said} {advice or _fewer_heads(trace, heads)}")


def _fewer_heads(trace: TraceLike, heads: int) -> str:
    """Return advice on what to type instead, such as writing a single head, which the file then calls L0 H0."""
    if heads == 1:
        return "Trace a shorter text."
    return (
        f"Trace a shorter text, or export only one of its {heads} heads. For example, this exports L0 H0: "
        f'trace.one_layer("{trace.kinds[-1]}", 0, 0).to_html("head.html"). The file calls any such head L0 H0.'
    )


def _figure(widget: str, payload: Payload) -> str:
    packed, spans = in_planes(payload)
    lines = _caption(payload).lines() + ([ROUNDED] if any(width == 2 for *_, width in spans) else [])
    return fill_places(
        file_figure(),
        {
            "widget": widget,
            "planes": json.dumps(spans),
            "bytes": deflate(packed, zlib.Z_FILTERED if _has_image(payload) else zlib.Z_DEFAULT_STRATEGY),
            "caption": "".join(f"<p>{escape(line)}</p>" for line in lines),
        },
    )


def _widgets(widgets: Sequence[Widget]) -> str:
    """Return each widget's script tag.

    Several widgets share their common pieces, and each lists the indices of its pieces.
    """
    names, made = [widget.name for widget in widgets], [source(widget) for widget in widgets]
    styles, modules = [one.style for one in made], [one.module for one in made]
    if len(made) == 1:
        return _script("source", names[0], {"html": made[0].html, "style": styles[0], "module": modules[0]})
    pieces, cut = shared_pieces([*styles, *modules])
    told = zip(names, made, cut, cut[len(made) :], strict=False)
    scripts = (
        _script("source", name, {"html": one.html, "style": style, "module": module})
        for name, one, style, module in told
    )
    return "\n".join([_script("pieces", "", pieces), *scripts])


def _script(what: str, name: str, content: Any) -> str:
    return f'<script type="text/plain" data-{what}="{name}">{deflate(json.dumps(content).encode())}</script>'


def _caption(payload: Payload) -> Caption:
    return Caption(**payload.header["caption"])


def _markdown(text: str) -> str:
    """Render Markdown, with HTML in it escaped."""
    with needs("app", "Text on a page"):
        from markdown_it import MarkdownIt
    return MarkdownIt("commonmark", {"html": False}).enable("table").render(text).strip()


def deflate(content: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> str:
    """Compress bytes by one of zlib's strategies, and encode them in base64."""
    pressed = zlib.compressobj(strategy=strategy)
    return base64.b64encode(pressed.compress(content) + pressed.flush()).decode()


def in_planes(payload: Payload) -> tuple[bytes, Spans]:
    """Pack a payload with its weights rearranged into byte planes, and return the positions of the weights.

    A plane has the first byte of all values, the next plane the second byte, and so on, which compresses about 10 %
    better. A weight takes four bytes (float32). If there are more than `EXACT` weights, each is rounded to a multiple
    of 1/65,535 and takes two bytes, which cuts the file's size to a third and costs the fifth digit. The browser
    restores float32 (attnviz/kit/js/files/planes.js), so that widgets need not know about the planes.
    """
    header, blobs, maps = payload.pack_header(), memoryview(payload.blobs), _maps(payload)
    width = 4 if sum(count for _, count in maps) <= EXACT else 2
    pieces, spans, at = [header], Spans(), 0
    for offset, count in sorted(maps):
        weights = np.frombuffer(blobs, "<f4", count, offset)
        pieces += [blobs[at:offset], _planes(weights if width == 4 else _round(weights))]
        spans.append([len(header) + offset, count, width])
        at = offset + 4 * count
    return b"".join([*pieces, blobs[at:]]), spans


def _round(weights: np.ndarray) -> np.ndarray:
    return np.rint(np.clip(weights, 0, 1) * np.float32(65_535)).astype(">u2")


def _planes(numbers: np.ndarray) -> bytes:
    return numbers.view(np.uint8).reshape(-1, numbers.itemsize).T.tobytes()


def _has_image(payload: Payload) -> bool:
    """Return True for a payload with the pixels of an image, whose noise the strategy Z_FILTERED compresses better."""
    return "pixels" in payload.header.get("arrays", {})


def _maps(payload: Payload) -> list[tuple[int, int]]:
    """Return offset and length of the maps in a Heads payload; [] for other pictures, whose maps are small."""
    header = payload.header
    if header.get("cells", {}).get("measure") != "weight":  # norms have no upper bound
        return []
    shapes = {kind["kind"]: kind["shape"] for kind in header["kinds"]}
    found = []
    for entry in header["exact"]:
        layers, heads, rows, cols = shapes[entry["kind"]]
        every = rows * cols if "layer" in entry else layers * heads * rows * cols
        count = entry.get("seen", every)
        found.append((entry["offset"], count))
    return found


@reads_arguments
def page(parts: Sequence[Any], path: str | Path, *, title: str = "") -> Path:
    """Write pictures and texts, in this order, as one HTML file that needs neither Python nor a network.

    Args:
        parts: pictures (``attnviz.picture("links").of(trace)``, or a notebook's), traces, which are drawn as Heads, and
            texts in Markdown.
        path: path of the file; an existing file is replaced.
        title: title of the page; by default the first picture's sentence.

    Returns its path. Raises ValueError, with one sentence, for a part that is none of these, for a text too long for
    a file, and for a path that cannot be written.
    """
    plain_file.require_place(path, such_as="page.html")
    read = [_part(part) for part in parts]
    if not any(isinstance(part, ShownPicture) for part in read):
        raise ValueError("A page needs at least one picture. Please pass a trace, or attnviz.picture(…).of(…).")
    path = Path(path)
    # Lone surrogates cannot be encoded as UTF-8.
    path.write_bytes(one_file(read, title=title).encode("utf-8", "xmlcharrefreplace"))
    return path


def _part(part: Any) -> str | ShownPicture:
    if isinstance(part, TraceLike):
        return picture("heads").of(part)
    part = getattr(part, "shown", part)  # unwrap a notebook's picture
    if not isinstance(part, str | ShownPicture):
        raise ValueError(f"A part of a page must be a picture, a trace or a text in Markdown, not {describe(part)}.")
    return part
