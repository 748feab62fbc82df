"""Reader of a lesson's Markdown file: front matter, then steps divided by headings, each with a link and a question.

`LessonError` lists all mistakes at once, each with its line, what is wrong and what to do. What cannot be read is left
out, and reading goes on with the next field or step. Text is Markdown (CommonMark). Front matter and questions are YAML
in which every value is read as text, so that `No` is a word and not False.

A first pass divides the file into blocks by lines: headings, a step's link, its question and its text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token as Block

from attnviz.guards import plain_file
from attnviz.guards.plain_yaml import NO_ANCHORS, TextLoader
from attnviz.lessons.block import question_of
from attnviz.lessons.faults import Fault, FaultList, LessonError
from attnviz.lessons.lesson import PAGES, Lesson, LessonStep, Link
from attnviz.lessons.question import Question
from attnviz.lessons.values import is_whole

_OF_LESSONS = ("lesson", "lesson_step", "panel", "beside")  # where a link was copied is no part of its picture
MOST_BYTES = 200_000
_HEAD = ("title", "minutes", "for", "language", "signed", "listed")
_REQUIRED = _HEAD[:4]
_MOST_STEPS, _MOST_MINUTES = 60, 240
_FRONT = "front matter"


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
        raise LessonError(Fault("this link cannot be read; please copy it from the app again")) from None
    page = PAGES.get(parts.path.rstrip("/").rpartition("/")[2])
    if page is None:
        if "src=" in parts.query or "weights=" in parts.query:
            names = ", ".join(PAGES)
            raise LessonError(Fault(f"this link leads to none of the app's pages ({names}); please copy it again"))
        return None
    texts: Mapping[str, str] = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not texts:
        raise LessonError(Fault("this link shows no picture; please copy the link again with “Copy link” on the page"))
    return Link(page, {name: text for name, text in texts.items() if name not in _OF_LESSONS}, line)


@dataclass(frozen=True)
class ReadStep:
    """A step of a lesson's text, which may have mistakes.

    `faults` has the mistakes; `step` is set if there are none. `link` is None if the step has no valid link. `line` is
    the line of the step's heading, counted from 1, and `end` the line after its last line.
    """

    title: str
    line: int
    end: int
    link: Link | None = None
    step: LessonStep | None = None
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class ReadText:
    """A lesson's text, which may have mistakes.

    `head` has the arguments of `Lesson` from the front matter, and `faults` the mistakes outside the steps.
    """

    head: Mapping[str, Any]
    about: str
    steps: tuple[ReadStep, ...]
    faults: tuple[Fault, ...] = ()

    @property
    def all_faults(self) -> tuple[Fault, ...]:
        """All mistakes without duplicates, ordered by line."""
        found = [*self.faults, *(fault for step in self.steps for fault in step.faults)]
        return tuple(sorted(dict.fromkeys(found), key=lambda fault: fault.line))

    def picture(self, at: int) -> Link | None:
        """Return the link to the picture that is shown at step `at`: the step's own link, or that of the last earlier
        step with one.
        """
        links = [step.link for step in self.steps[: at + 1] if step.link is not None]
        return links[-1] if links else None

    def lesson(self, name: str) -> Lesson:
        """Return the lesson. Raises LessonError with all mistakes."""
        if found := self.all_faults:
            raise LessonError(*found)
        steps = tuple(step.step for step in self.steps if step.step is not None)
        return Lesson(name, **self.head, steps=steps, about=self.about)


def read_file(path: Path) -> Lesson:
    """Read a lesson from a file. Raises LessonError, and OSError for a file that cannot be opened."""
    return replace(read(content_of(path), name=path.stem), folder=path.parent)


def content_of(path: Path) -> str:
    """Return the text of a lesson's file. Raises LessonError, and OSError for a file that cannot be opened."""
    try:
        return plain_file.content(path, most=MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise LessonError(Fault("this is not UTF-8 text; save the file as UTF-8", line=line)) from None
    except ValueError:
        said = f"a lesson may have at most {MOST_BYTES:,} bytes, but this file has more; please divide the lesson"
        raise LessonError(Fault(said, line=1)) from None


def read(content: str, *, name: str = "lesson") -> Lesson:
    """Read a lesson from its Markdown. Raises LessonError with all mistakes."""
    return read_text(content).lesson(name)


def read_text(content: str) -> ReadText:
    """Read a lesson's text without raising: the result has the mistakes, and every part that could be read."""
    lines, faults = content.replace("\r\n", "\n").replace("\r", "\n").split("\n"), FaultList()
    end, head = -1, dict[str, Any]()
    with faults.collect():
        end = _end_of_front_matter(lines)
    if end >= 0:
        with faults.collect(line=1, place=_FRONT):
            head = _head("\n".join(lines[1:end]))
    about, steps = _body(lines, end + 1, faults)
    return ReadText(head, about, steps, faults.found)


def _end_of_front_matter(lines: Sequence[str]) -> int:
    """Return the index of the line “---” that ends the front matter.

    Raises LessonError if it is missing, because the rest of the text cannot be read without it.
    """
    if lines[0].strip() != "---":
        said = "a lesson begins with “---”, then title, minutes, for and language, then “---”"
        raise LessonError(Fault(said, line=1))
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.strip() == "---"), 0)
    if not end:
        said = "the front matter has no end; close it with a line “---” before the text"
        raise LessonError(Fault(said, line=1))
    return end


def _head(text: str) -> dict[str, Any]:
    """Read the front matter as arguments of `Lesson`. Raises LessonError."""
    faults = FaultList()
    found, places = _mapping(text, 2, faults)
    for key in found:
        if key not in _HEAD:
            said = f"a lesson has no “{key[:40]}”; it has {', '.join(_REQUIRED)} and may have listed"
            faults.add(said, line=places[key])
    for key in _REQUIRED:
        if not isinstance(found.get(key), str) or not found[key].strip():
            faults.add("is missing", key, in_file=f"write “{key}: …”", line=places.get(key, 1))
    minutes, signed, listed = found.get("minutes"), found.get("signed", {}), found.get("listed", "true")
    if isinstance(minutes, str) and minutes.strip() and not is_whole(minutes, 1, _MOST_MINUTES):
        faults.add(f"is a whole number from 1 to {_MOST_MINUTES}", "minutes", line=places["minutes"])
    if not isinstance(signed, dict) or not all(isinstance(value, str) for value in signed.values()):
        faults.add("is written by “lessons check --sign”; take the line out", "signed", line=places["signed"])
    if listed not in ("true", "false"):
        faults.add("is true or false", "listed", line=places["listed"])
    faults.raise_any()
    head = {
        "title": found["title"],
        "minutes": int(found["minutes"]),
        "audience": found["for"],
        "language": found["language"],
    }
    return head | {"signed": signed, "is_listed": listed == "true"}


def _mapping(text: str, first: int, faults: FaultList) -> tuple[dict[str, Any], dict[str, int]]:
    """Read a YAML mapping of texts, lists and mappings. Return the mapping, and the line of each key.

    `first` is the line in the file where the text begins. Raises LessonError if the text is not such a mapping.
    """
    try:
        node = yaml.compose(text, Loader=TextLoader)
        found = yaml.load(text, Loader=TextLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        raise LessonError(Fault(_problem(error), line=first + line)) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise LessonError(Fault(f"this cannot be read as YAML ({type(error).__name__})", line=first)) from None
    if not isinstance(node, yaml.MappingNode) or not isinstance(found, dict):
        raise LessonError(Fault("write lines such as “title: …” here: a name, a colon and a text", line=first))
    places: dict[str, int] = {}
    for key, _ in node.value:
        line = first + key.start_mark.line
        if key.value in places:
            faults.add(f"“{str(key.value)[:40]}” appears here twice; please delete one of the lines", line=line)
        places[key.value] = line
    return found, places


def _problem(error: yaml.MarkedYAMLError) -> str:
    if error.problem == NO_ANCHORS:
        return NO_ANCHORS
    said = f" ({error.problem})" if error.problem else ""
    return f"YAML cannot read this{said}; put a text with a colon in quotes"


def _body(lines: Sequence[str], start: int, faults: FaultList) -> tuple[str, tuple[ReadStep, ...]]:
    """Read the text before the first step, and the steps."""
    parts = Parts(lines, start, MarkdownIt("commonmark").parse("\n".join(lines[start:])))
    begins = [*parts.headings()]
    if not begins:
        faults.add("a lesson has steps, each begun by a heading “## …”; write one", line=len(lines))
    if len(begins) > _MOST_STEPS:
        said = f"a lesson may have at most {_MOST_STEPS} steps; please begin a new lesson here"
        faults.add(said, line=begins[_MOST_STEPS][0])
    ends = [line for line, *_ in begins] + [len(lines) + 1]
    for line, *_ in parts.questions(start + 1, ends[0]):
        faults.add("a question belongs to a step; put a heading “## …” before it", line=line)
    steps = tuple(
        _step(parts, title, at, (line, below, end))
        for at, ((line, title, below), (_, end)) in enumerate(zip(begins, pairwise(ends), strict=True), start=1)
    )
    return parts.text(start + 1, ends[0], ()), steps


def _step(parts: Parts, title: str, number: int, lines: tuple[int, int, int]) -> ReadStep:
    """Read one step. `lines` has the line of its heading, the line below that, and the line of the next step."""
    (line, below, end), faults = lines, FaultList()
    links: list[tuple[int, int, Link]] = []
    blocks, question = [*parts.questions(below, end)], None
    with faults.collect(line=line, place=f"step {number}"):
        inner = FaultList()
        if not title:
            inner.add("the heading of a step needs a text, such as “## Which word?”")
        for first, after, target in parts.lone_links(below, end):
            with inner.collect(line=first):
                if link := link_of(target, first):
                    links.append((first, after, link))
        for first, _, block in blocks[:1]:
            with inner.collect(line=first, place="question"):
                question = _question(parts.question_text(block), first)
        for first, *_ in links[1:]:
            inner.add(
                "a step may have only one picture, but this is a second link; please make a new step for it", line=first
            )
        for first, *_ in blocks[1:]:
            inner.add(
                "a step may have only one question, but this is a second question; please make a new step for it",
                line=first,
            )
        inner.raise_any()
    own = links[0][2] if links else None
    found = ReadStep(title, line, end, own, None, faults.found)
    if found.faults:
        return found
    taken = [(first, after) for first, after, _ in (*links, *blocks)]
    return replace(found, step=LessonStep(title, parts.text(below, end, taken), own, question, line))


def _question(text: str, line: int) -> Question:
    """Read a question from the text of its block, which begins on `line`. Raises LessonError with all mistakes."""
    faults, question = FaultList(), None
    found, places = _mapping(text, line + 1, faults)
    with faults.collect():
        question = question_of(found, line, places)
    faults.raise_any()
    assert question is not None  # else there was something to raise
    return question
