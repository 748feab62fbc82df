"""The blocks of a lesson's file with their line numbers: headings, and each step's link, question and text."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

from markdown_it.token import Token as Block

from attnviz.lessons.faults import Fault, LessonError
from attnviz.lessons.lesson import PAGES, Link

_OF_LESSONS = ("lesson", "lesson_step", "panel", "beside")  # where a link was copied is no part of its picture


class Parts:
    """The blocks of a file. Lines count from 1; the end of a block is the line after its last."""

    def __init__(self, lines: Sequence[str], start: int, blocks: list[Block]) -> None:
        self._lines, self._start, self._blocks = lines, start, blocks

    def headings(self) -> Iterator[tuple[int, str, int]]:
        """Yield, for each step's heading, its line, its title, and the line below it."""
        for block, inline in zip(self._blocks, self._blocks[1:], strict=False):
            if block.type == "heading_open" and block.tag == "h2" and block.level == 0:
                line, below = self._place(block)
                yield line, inline.content.strip(), below

    def questions(self, first: int, end: int) -> Iterator[tuple[int, int, Block]]:
        """Yield the first line, the line after the last, and the block of each question."""
        for block in self._blocks_between(first, end):
            if block.type == "fence" and block.info.strip() == "question":
                yield (*self._place(block), block)

    def question_text(self, block: Block) -> str:
        """Return the text of a question's block. Raises LessonError for a block that is indented or has no end."""
        if block.level:
            raise LessonError(Fault("a question begins at the left margin, not in a list or a quotation"))
        if self._lines[self._place(block)[1] - 2].strip().strip("`~"):
            raise LessonError(Fault("this block has no end; close it with a line “```”"))
        return block.content

    def lone_links(self, first: int, end: int) -> Iterator[tuple[int, int, str]]:
        """Yield, for each paragraph that is nothing but a link, its first line, the line after its last, and
        the target.
        """
        for block in self._blocks_between(first, end):
            if block.type == "inline" and block.level == 1 and (target := _lone_target(block)):
                yield (*self._place(block), target)

    def text(self, first: int, end: int, taken: Sequence[tuple[int, int]]) -> str:
        """Return the lines from `first` to before `end` as one text, without the ranges of lines in `taken`."""
        kept = [
            self._lines[line - 1]
            for line in range(first, min(end, len(self._lines) + 1))
            if not any(start <= line < after for start, after in taken)
        ]
        return "\n".join(kept).strip()

    def _blocks_between(self, first: int, end: int) -> Iterator[Block]:
        return (block for block in self._blocks if block.map and first <= self._place(block)[0] < end)

    def _place(self, block: Block) -> tuple[int, int]:
        first, after = block.map or (0, 0)
        return first + self._start + 1, after + self._start + 1


def _lone_target(block: Block) -> str:
    """Return the target of a paragraph that consists of one link or one bare address; "" for any other paragraph."""
    children = block.children or []
    if len(children) == 3 and children[0].type == "link_open":
        return str(children[0].attrs.get("href", ""))
    bare = block.content.strip()
    return bare if bare.startswith(("http://", "https://", "/")) and not bare.split()[1:] else ""


def link_of(target: str, line: int = 0) -> Link | None:
    """Parse an address as a link to a picture of the app, on any host. Return None for an address of something else.

    Raises LessonError for an address of the app that does not lead to a picture, or that cannot be read.
    """
    try:
        parts = urlsplit(target)
    except ValueError:
        raise LessonError(Fault("this link cannot be read; copy it from the app again")) from None
    page = PAGES.get(parts.path.rstrip("/").rpartition("/")[2])
    if page is None:
        if "src=" in parts.query or "weights=" in parts.query:
            names = ", ".join(PAGES)
            raise LessonError(Fault(f"this link leads to none of the app's pages ({names}); copy it again"))
        return None
    texts: Mapping[str, str] = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not texts:
        raise LessonError(Fault("this link shows no picture; use “Copy link” on the page"))
    return Link(page, {name: text for name, text in texts.items() if name not in _OF_LESSONS}, line)
