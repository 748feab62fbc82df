"""The data of a lesson's static page: texts as HTML, questions with their right answers, and the steps' pictures."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode

from markdown_it import MarkdownIt
from markdown_it.token import Token as Block

from attnviz.hosts.html.one_file import deflate, in_planes
from attnviz.kit.bundle import PACKAGE
from attnviz.kit.wire import Payload
from attnviz.lessons.answers import truth_of
from attnviz.lessons.check import fingerprint
from attnviz.lessons.folder.claims import missing_controls
from attnviz.lessons.folder.drawn import Drawn, draw
from attnviz.lessons.folder.variants import Part, Variants
from attnviz.lessons.lesson import PAGES, Lesson, Link
from attnviz.lessons.phrases import Translatable, translate, translations
from attnviz.lessons.picture import LinkedPicture, Pictures
from attnviz.lessons.question import CELL, ROW, Question
from attnviz.lessons.reading import link_of
from attnviz.lessons.scoring import Truth

Say = Callable[[str], str]  # into the language of the lesson
Pieces = dict[str, Mapping[str, Any]]  # by their digests: payloads, each `deflated`, in base64, with its `planes`; tabs
_READER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_FOREIGN = re.compile(r"\s*(//|\\\\|(?!data:)[a-z][a-z0-9+.-]*:)", re.IGNORECASE)  # another site's address
_PATHS = {page: path for path, page in PAGES.items()}
SCRIPTS = PACKAGE / "lessons" / "lesson_page" / "js"
_PHRASE = re.compile(r'\bphrase\(\s*("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True)
class LessonData:
    """A lesson's page as JSON, with the payloads of its pictures and the widgets that draw them.

    `warnings` has a sentence for each step whose texts name controls that its picture lacks.
    """

    page: Mapping[str, Any]
    pieces: Pieces = field(default_factory=dict)
    widgets: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()


def lesson_data(lesson: Lesson, run: Pictures, *, instance: str = "") -> LessonData:
    """Run every step of a lesson, and compute the right answers.

    Raises ValueError, with a message that names the step, if a step cannot be shown or has no right answer.
    """
    pieces: Pieces = {}
    made = _Steps(lesson, run, instance, pieces)
    steps = [made.step(at) for at in range(len(lesson.steps))]
    page = {
        "name": lesson.name,
        "title": lesson.title,
        "about": to_html(lesson.about, instance),
        "words": words(lesson.language),
        "steps": steps,
    }
    widgets = {step["picture"]["widget"] for step in steps if step["picture"] and step["picture"]["widget"]}
    key = f"attnviz {lesson.name} {_digest(_question_list(lesson, steps).encode())}"
    return LessonData({"key": key, **page}, pieces, frozenset(widgets), tuple(made.warnings))


@dataclass(frozen=True)
class _Steps:
    """Maker of a lesson's steps, one after another. Pictures with the same data share one piece."""

    lesson: Lesson
    run: Pictures
    instance: str
    pieces: Pieces
    warnings: list[str] = field(default_factory=list)

    def step(self, at: int) -> dict[str, Any]:
        """Return the data of a step. Raises ValueError if the step cannot be shown or has no right answer."""
        step, link = self.lesson.steps[at], self.lesson.picture(at)
        try:
            shown = None if link is None or link.page == "Learning" else self.run(link)
            question = step.question and question_data(
                step.question, shown, say=self._say, why=to_html(step.question.why, self.instance)
            )
            picture = None if link is None else self._picture(at, link, shown)
        except (ValueError, OSError) as error:
            raise ValueError(f"{self.lesson.name}, step {at + 1}: {error}") from None
        return {
            "title": step.title,
            "text": to_html(step.text, self.instance),
            "question": question,
            "picture": picture,
        }

    def _picture(self, at: int, link: Link, shown: LinkedPicture | None) -> dict[str, Any]:
        question = self.lesson.steps[at].question
        drawn = draw(link, shown, question, self._say, run=self.run, folder=self.lesson.folder)
        if missing := [f"“{name}”" for name in missing_controls(self.lesson.steps[at], drawn)]:
            names = f"{', '.join(missing)}, which the folder lacks; please reword the text"
            self.warnings.append(f"{self.lesson.name}, step {at + 1}: the text names {names}.")
        is_covered = question is not None and question.cover != "nothing"
        return {
            "page": link.page,
            "widget": drawn.widget,
            "site": drawn.site,
            "cover": "nothing" if not is_covered else "part" if drawn.covered else "all",
            "open": self._tab(drawn.parts) if drawn.parts else self._piece(drawn.opened),
            "covered": self._piece(drawn.covered),
            "html": drawn.html,
            "note": drawn.note,
            "view": _view(drawn),
            "instance": instance_link(link, self.instance) if self.instance else "",
        }

    def _tab(self, parts: Sequence[Part]) -> str:
        """Store the data of an HTML tab, without its view, and return the name under which it is stored."""
        packed = json.dumps([self._part(part) for part in parts]).encode()
        name = _digest(packed)
        self.pieces.setdefault(name, {"deflated": deflate(packed)})
        return name

    def _part(self, part: Part) -> str | Mapping[str, Any]:
        if isinstance(part, str):
            return part
        shown, count = len(part.values), part.offered
        left_out = Translatable(
            "This folder has {shown} of {count} choices, those nearest to the link’s; attnviz itself has all of them.",
            shown=shown,
            count=count,
        )
        said = {"left_out": self._say(left_out) if shown < count else ""}
        return {name: getattr(part, name) for name in ("name", "label", "values", "fragments", "is_list")} | said

    def _piece(self, payload: Payload | None) -> str | None:
        """Store a payload, without its view, and return the name under which it is stored; None for no payload."""
        if payload is None:
            return None
        header = {name: value for name, value in payload.header.items() if name != "view"}
        packed, planes = in_planes(payload._replace(header=header))
        name = _digest(packed)
        self.pieces.setdefault(name, {"deflated": deflate(packed), "planes": planes})
        return name

    @property
    def _say(self) -> Callable[[str], str]:
        return partial(translate, language=self.lesson.language)


def _view(drawn: Drawn) -> Mapping[str, Any] | None:
    """Return what a link selects in its picture: the view of a widget, or the value of each control of an HTML tab."""
    if drawn.opened is not None:
        return drawn.opened.header.get("view")
    return {part.name: part.at for part in drawn.parts if isinstance(part, Variants)}


def _question_list(lesson: Lesson, steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the questions and their rounded right answers as JSON.

    A browser discards the answers that it has stored if this text has changed since.
    """
    asked = []
    for at, question in lesson.questions.items():
        right = fingerprint(question, Truth(steps[at]["question"]["truth"]["answer"]))
        asked.append([at, question.kind, question.ask, [option.text for option in question.options], right])
    return json.dumps(asked)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def question_data(question: Question, shown: LinkedPicture | None, *, say: Say, why: str) -> dict[str, Any]:
    """Return the data of a question, with its row on the map and its right answer; `why` is its explanation as HTML.

    Raises ValueError for a question that does not fit its picture.
    """
    has_map = shown is not None and (question.kind in (CELL, ROW) or question.row)
    return {
        "kind": question.kind,
        "ask": question.ask,
        "cover": question.cover,
        "most": question.most,
        "row": shown.row(question.row) if shown is not None and question.row else None,
        "heads": question.heads,
        "options": [option.text for option in question.options],
        "within": question.within,
        "unit": question.unit,
        "hints": question.hints,
        "show": question.show,
        "why": why,
        "rows": [row.text for row in shown.maps.rows] if shown is not None and has_map else [],
        "keys": [col.text for col in shown.maps.cols] if shown is not None and has_map else [],
        "truth": truth_data(truth_of(question, shown), say),
    }


def truth_data(truth: Truth, say: Say) -> dict[str, Any]:
    """Return the parts of a right answer that scoring needs, and its sentence.

    Raises ValueError if the answer is NaN.
    """
    if isinstance(truth.answer, float) and not math.isfinite(truth.answer):
        raise ValueError("The right answer to this question is NaN (not a number). Please ask for something else.")
    return {"answer": truth.answer, "said": say(truth.said), "weights": truth.weights}


def to_html(text: str, instance: str = "") -> str:
    """Convert Markdown to HTML. Links into the app lead to `instance`; without an instance they become plain text.

    An image on another site becomes a link to it, because a folder must not load anything from other sites unless its
    reader follows a link.
    """
    blocks = _READER.parse(text)
    for block in blocks:
        if block.children:
            block.children = _link_images(_lead(block.children, instance))
    return _READER.renderer.render(blocks, _READER.options, {})


def instance_link(link: Link, instance: str) -> str:
    """Return the address under which an attnviz server shows the picture to which a link leads."""
    texts = {name: text for name, text in link.texts.items() if text}
    return f"{instance}/{_PATHS[link.page]}?{urlencode(texts)}"


def _link_images(parts: Sequence[Block]) -> list[Block]:
    """Replace images on other sites by links to them; inside another link, by their text alone."""
    kept, depth = [], 0
    for part in parts:
        depth += {"link_open": 1, "link_close": -1}.get(part.type, 0)
        address = str(part.attrs.get("src", ""))
        if part.type != "image" or not _FOREIGN.match(address):
            kept.append(part)
            continue
        text = Block("text", "", 0, content=part.content or address)
        kept += [text] if depth else [Block("link_open", "a", 1, {"href": address}), text, Block("link_close", "a", -1)]
    return kept


def _lead(parts: Sequence[Block], instance: str) -> list[Block]:
    kept, dropped = [], 0
    for part in parts:
        if part.type == "link_open":
            address = str(part.attrs.get("href", ""))
            if link := link_of(address):
                part.attrs["href"] = instance_link(link, instance)
                dropped += not instance
            elif address.startswith("/"):
                part.attrs["href"] = instance + address
                dropped += not instance
            if dropped:
                continue
        elif part.type == "link_close" and dropped:
            dropped -= 1
            continue
        kept.append(part)
    return kept


@cache
def script_sentences() -> tuple[str, ...]:
    """Return every English sentence that the folder's scripts mark for translation."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(SCRIPTS.glob("*.js")))
    return tuple(dict.fromkeys(json.loads(found) for text in texts for found in _PHRASE.findall(text)))


def words(language: str) -> Mapping[str, str]:
    """Return {English: translation} for the scripts' sentences; {} for English and for a language without a file."""
    found = translations(language)
    return {english: found[english] for english in script_sentences() if english in found}
