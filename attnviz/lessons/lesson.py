"""A lesson: steps, each with a text, a picture that is a link, and at most one question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from attnviz.lessons.question import Question

# The pages that a step's link can lead to, by the last part of their address.
PAGES = {
    "heads": "Heads",
    "masks": "Masks",
    "decoding": "Decoding",
    "learning": "Learning",
    "causes": "Causes",
    "anatomy": "Anatomy",
    "implementations": "Implementations",
}


@dataclass(frozen=True)
class Link:
    """A link copied from the app: the page, and the parameters of its address."""

    page: str
    texts: Mapping[str, str]
    line: int = 0

    @property
    def query(self) -> str:
        """The part of the address after the question mark."""
        return urlencode(self.texts)


@dataclass(frozen=True)
class LessonStep:
    """A step: a heading of the file and the text below it. `text` is Markdown without the link and the question.

    A step without a link shows the picture of the step before.
    """

    title: str
    text: str
    link: Link | None = None
    question: Question | None = None
    line: int = 0


@dataclass(frozen=True)
class Lesson:
    """A lesson that was read from a file.

    `name` is the file's name without its ending, `audience` the value of its key `for`, and `about` the Markdown before
    the first step. `signed` has the fingerprint of each answer from when the author signed the file, by the step's
    number as text. If `is_listed` is False, only its link opens the lesson. `folder` is the folder of its file, which
    may hold recordings; None for a lesson that was not read from a file.
    """

    name: str
    title: str
    minutes: int
    audience: str
    language: str
    steps: tuple[LessonStep, ...]
    about: str = ""
    signed: Mapping[str, str] = field(default_factory=dict)
    is_listed: bool = True
    folder: Path | None = field(default=None, compare=False)

    def picture(self, at: int) -> Link | None:
        """Return the link to the picture shown at step `at`: the step's own, or that of the last step before it that
        has one.
        """
        links = [step.link for step in self.steps[: at + 1] if step.link is not None]
        return links[-1] if links else None

    @property
    def questions(self) -> dict[int, Question]:
        """The questions by the index of their step, counted from 0."""
        return {at: step.question for at, step in enumerate(self.steps) if step.question is not None}
