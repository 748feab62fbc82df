"""Scripts and style sheets as they are sent: without comments and indentation, which a browser would only read over."""

import re
from collections.abc import Iterable, Iterator

_COMMENT_OF_STYLE = re.compile(r"/\*.*?\*/", re.DOTALL)


def script(text: str) -> str:
    """A script without indentation, blank lines, and lines that are a comment.

    Lines are told apart without reading JavaScript: the text of a template literal must not go over several (what
    stands between its braces may).
    """
    return _joined(line for line in _lines(text) if not line.startswith("//"))


def style(text: str) -> str:
    """A style sheet without comments, indentation and blank lines."""
    return _joined(_lines(_COMMENT_OF_STYLE.sub("", text)))


def _lines(text: str) -> Iterator[str]:
    return (stripped for line in text.split("\n") if (stripped := line.strip()))


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
