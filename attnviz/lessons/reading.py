"""A lesson's Markdown file, read: front matter, steps divided by headings, a link and a question in each.

Every mistake is a `LessonError` that says which line, what is wrong with it and what to do. Text is Markdown
(CommonMark), front matter and questions are YAML in which every value is a text, so that `No` is a word.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qsl, urlsplit

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token as Block

from attnviz.lessons.block import is_whole, question_of
from attnviz.lessons.lesson import PAGES, Lesson, LessonStep, Link
from attnviz.lessons.question import Question
from attnviz.text import plain_file
from attnviz.text.plain_yaml import NO_ANCHORS, TextLoader

MOST_BYTES = 200_000
_HEAD = ("title", "minutes", "for", "language", "signed")
_OF_LESSONS = ("lesson", "lesson_step", "panel", "beside")  # where a link was copied is no part of its picture
_MOST_STEPS, _MOST_MINUTES = 60, 240


class LessonError(ValueError):
    """A mistake in a lesson's file; its message is one sentence that begins with the line."""

    def __init__(self, line: int, sentence: str) -> None:
        """`line` counts from 1."""
        super().__init__(f"Line {line}: {sentence}.")
        self.line, self.sentence = line, sentence


def read_file(path: Path) -> Lesson:
    """The lesson of a file. Raises LessonError, and OSError for what cannot be opened."""
    try:
        content = plain_file.content(path, most=MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise LessonError(line, "this is not UTF-8 text; save the file as UTF-8") from None
    except ValueError:
        raise LessonError(1, f"a lesson has at most {MOST_BYTES:,} bytes; this file has more: divide it") from None
    return read(content, name=path.stem)


def read(content: str, *, name: str = "lesson") -> Lesson:
    """The lesson that a text says. Raises LessonError."""
    lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head, start = _front_matter(lines)
    about, steps = _body(lines, start)
    if not steps:
        raise LessonError(len(lines), "a lesson has steps, each begun by a heading “## …”; write one")
    return Lesson(name, **head, steps=steps, about=about)


def _front_matter(lines: Sequence[str]) -> tuple[dict[str, Any], int]:
    """What stands between the first two lines of three dashes, and the number of lines that takes."""
    if lines[0].strip() != "---":
        raise LessonError(1, "a lesson begins with “---”, then title, minutes, for and language, then “---”")
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.strip() == "---"), 0)
    if not end:
        raise LessonError(1, "the front matter has no end; close it with a line “---” before the text")
    found, places = _mapping("\n".join(lines[1:end]), first=2)
    return _head(found, places), end + 1


def _head(found: Mapping[str, Any], places: Mapping[str, int]) -> dict[str, Any]:
    """The front matter as arguments of `Lesson`."""
    for key in found:
        if key not in _HEAD:
            raise LessonError(places[key], f"a lesson has no “{key[:40]}”; it has {', '.join(_HEAD[:4])}")
    for key in _HEAD[:4]:
        if not isinstance(found.get(key), str) or not found[key].strip():
            raise LessonError(places.get(key, 1), f"the front matter needs “{key}: …”")
    minutes, signed = found["minutes"], found.get("signed", {})
    if not is_whole(minutes, 1, _MOST_MINUTES):
        raise LessonError(places["minutes"], f"minutes are a whole number from 1 to {_MOST_MINUTES}")
    if not isinstance(signed, dict) or not all(isinstance(value, str) for value in signed.values()):
        raise LessonError(places["signed"], "what is signed is written by “lessons check --sign”; take the line out")
    head = {"title": found["title"], "minutes": int(minutes), "audience": found["for"], "language": found["language"]}
    return head | {"signed": signed}


def _mapping(text: str, *, first: int) -> tuple[dict[str, Any], dict[str, int]]:
    """A YAML mapping whose values are texts, lists and mappings of them; and the line of each key.

    `first` is the line in the file that the text begins on.
    """
    try:
        node = yaml.compose(text, Loader=TextLoader)
        found = yaml.load(text, Loader=TextLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        raise LessonError(first + line, _problem(error)) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise LessonError(first, f"this cannot be read as YAML ({type(error).__name__})") from None
    if not isinstance(node, yaml.MappingNode) or not isinstance(found, dict):
        raise LessonError(first, "write lines such as “title: …” here: a name, a colon and a text")
    places: dict[str, int] = {}
    for key, _ in node.value:
        if key.value in places:
            raise LessonError(first + key.start_mark.line, f"“{str(key.value)[:40]}” stands here twice; keep one")
        places[key.value] = first + key.start_mark.line
    return found, places


def _problem(error: yaml.MarkedYAMLError) -> str:
    if error.problem == NO_ANCHORS:
        return NO_ANCHORS
    said = f" ({error.problem})" if error.problem else ""
    return f"YAML cannot read this{said}; put a text with a colon in quotes"


def _body(lines: Sequence[str], start: int) -> tuple[str, tuple[LessonStep, ...]]:
    """The text before the first step, and the steps."""
    blocks = MarkdownIt("commonmark").parse("\n".join(lines[start:]))
    parts = _Parts(lines, start, [*blocks])
    begins = [*parts.headings()]
    if len(begins) > _MOST_STEPS:
        raise LessonError(begins[_MOST_STEPS][0], f"a lesson has at most {_MOST_STEPS} steps; begin another one here")
    ends = [line for line, *_ in begins[1:]] + [len(lines) + 1]
    first = begins[0][0] if begins else len(lines) + 1
    if question := next(parts.questions(start + 1, first), None):
        raise LessonError(question[0], "a question belongs to a step; put a heading “## …” before it")
    steps = [_step(parts, title, (line, below, end)) for (line, title, below), end in zip(begins, ends, strict=True)]
    return parts.text(start + 1, first, ()), tuple(steps)


def _step(parts: "_Parts", title: str, lines: tuple[int, int, int]) -> LessonStep:
    """One step: `lines` are those of its heading, of what follows it, and of the next step."""
    line, below, end = lines
    if not title:
        raise LessonError(line, "a step's heading has a text, such as “## Which word?”")
    links, questions = [*parts.links(below, end)], [*parts.questions(below, end)]
    if len(links) > 1:
        raise LessonError(links[1][0], "a step has one picture, and this is its second link; make another step of it")
    if len(questions) > 1:
        raise LessonError(questions[1][0], "a step asks one question, and this is its second; make another step of it")
    taken = [(first, last) for first, last, _ in (*links, *questions)]
    return LessonStep(
        title=title,
        text=parts.text(below, end, taken),
        link=links[0][2] if links else None,
        question=_question(*questions[0]) if questions else None,
        line=line,
    )


def _question(first: int, last: int, text: str) -> Question:
    found, places = _mapping(text, first=first + 1)

    def fail(field: str, sentence: str) -> NoReturn:
        raise LessonError(places.get(field, first), sentence)

    return question_of(found, first, fail)


class _Parts:
    """The blocks of a file by their lines, counted from 1; ends are the line after the last."""

    def __init__(self, lines: Sequence[str], start: int, blocks: list[Block]) -> None:
        self._lines, self._start, self._blocks = lines, start, blocks

    def headings(self) -> Iterator[tuple[int, str, int]]:
        """Line, title, and line below of each step's heading."""
        for block, inline in zip(self._blocks, self._blocks[1:], strict=False):
            if block.type == "heading_open" and block.tag == "h2" and block.level == 0:
                line, below = self._place(block)
                yield line, inline.content.strip(), below

    def questions(self, first: int, end: int) -> Iterator[tuple[int, int, str]]:
        """First line, line after the last, and text of each question's block."""
        for block in self._within(first, end):
            if block.type == "fence" and block.info.strip() == "question":
                line, after = self._place(block)
                if block.level:
                    raise LessonError(line, "a question begins at the left margin, not in a list or a quotation")
                if self._lines[after - 2].strip().strip("`~"):
                    raise LessonError(line, "this block has no end; close it with a line “```”")
                yield line, after, block.content

    def links(self, first: int, end: int) -> Iterator[tuple[int, int, Link]]:
        """As `questions`: each paragraph that is nothing but a link copied from the app."""
        for block in self._within(first, end):
            if block.type == "inline" and block.level == 1 and (target := _lone_target(block)):
                line, after = self._place(block)
                if link := link_of(target, line):
                    yield line, after, link

    def text(self, first: int, end: int, taken: Sequence[tuple[int, int]]) -> str:
        """The lines from `first` on without those that are `taken`."""
        kept = [
            self._lines[line - 1]
            for line in range(first, min(end, len(self._lines) + 1))
            if not any(start <= line < after for start, after in taken)
        ]
        return "\n".join(kept).strip()

    def _within(self, first: int, end: int) -> Iterator[Block]:
        return (block for block in self._blocks if block.map and first <= self._place(block)[0] < end)

    def _place(self, block: Block) -> tuple[int, int]:
        first, after = block.map or (0, 0)
        return first + self._start + 1, after + self._start + 1


def _lone_target(block: Block) -> str:
    """Where a paragraph leads that holds one link and nothing else, or one bare address; "" for any other."""
    children = block.children or []
    if len(children) == 3 and children[0].type == "link_open":
        return str(children[0].attrs.get("href", ""))
    bare = block.content.strip()
    return bare if bare.startswith(("http://", "https://", "/")) and not bare.split()[1:] else ""


def link_of(target: str, line: int) -> Link | None:
    """The app's own link of an address, whatever host it was copied from; None for one that leads elsewhere.

    Raises LessonError for an address of the app that says nothing of a picture.
    """
    try:
        parts = urlsplit(target)
    except ValueError:
        raise LessonError(line, "this link cannot be read; copy it from the app again") from None
    page = PAGES.get(parts.path.rstrip("/").rpartition("/")[2])
    if page is None:
        if "src=" in parts.query or "weights=" in parts.query:
            raise LessonError(line, f"this link leads to none of the app's pages ({', '.join(PAGES)}); copy it again")
        return None
    texts: Mapping[str, str] = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not texts:
        raise LessonError(line, "this link says nothing of a picture; use “Copy link” on the page")
    return Link(page, {name: text for name, text in texts.items() if name not in _OF_LESSONS}, line)
