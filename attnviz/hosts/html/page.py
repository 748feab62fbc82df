"""`attnviz.page`: pictures with Markdown between them as one HTML file to share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnviz.guards import plain_file
from attnviz.guards.arguments import describe, reads_arguments
from attnviz.hosts.html.one_file import one_file
from attnviz.hosts.registry import picture
from attnviz.kit.picture import ShownPicture
from attnviz.tracing.trace_like import TraceLike


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
        raise ValueError("A page has a picture at least: give a trace, or attnviz.picture(…).of(…).")
    path = Path(path)
    # Lone surrogates cannot be encoded as UTF-8.
    path.write_bytes(one_file(read, title=title).encode("utf-8", "xmlcharrefreplace"))
    return path


def _part(part: Any) -> str | ShownPicture:
    if isinstance(part, TraceLike):
        return picture("heads").of(part)
    part = getattr(part, "shown", part)  # unwrap a notebook's picture
    if not isinstance(part, str | ShownPicture):
        raise ValueError(f"A part of a page is a picture, a trace or a text in Markdown, not {describe(part)}.")
    return part
