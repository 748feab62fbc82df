"""Right answers of a class, computed from the model's run once per step for all members."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from attnviz.classroom.errors import ClassroomError
from attnviz.lessons.answers import truth_of
from attnviz.lessons.lesson import Lesson, Link
from attnviz.lessons.phrases import Translatable, sentence
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import Question
from attnviz.lessons.scoring import Truth

RunPicture = Callable[[Link | None], LinkedPicture | None]
TakeTurn = Callable[[], None]
_MOST = 512  # steps of all classes


class Truths:
    """Cache of right answers, by class and step."""

    def __init__(self, run: RunPicture, take_turn: TakeTurn = lambda: None) -> None:
        """Make an empty cache.

        `run` returns the run of a link, or None without a link and for a page that runs no model. `take_turn` waits
        until this thread may compute, and raises ValueError if it may not.
        """
        self._run, self._take_turn = run, take_turn
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, int], Truth] = OrderedDict()
        self._computing: dict[tuple[str, int], threading.Lock] = {}

    def answer(self, code: str, lesson: Lesson, at: int) -> Truth:
        """Return the right answer to the question of a step. Raises ClassroomError if it cannot be computed."""
        key = code, at
        with self._lock:
            computing, is_found = self._computing.setdefault(key, threading.Lock()), key in self._found
        if not is_found:
            self._wait()  # before the lock: a run that has its turn may wait for this answer
        with computing:
            if key not in self._found:
                self._keep(key, self._compute(lesson.questions[at], lesson.picture(at)))
            return self._found[key]

    def picture(self, lesson: Lesson, at: int) -> LinkedPicture | None:
        """Run the model on the inputs in the address of a step's link. Raises ClassroomError if the run is refused."""
        try:
            return self._run(lesson.picture(at))
        except ValueError as error:
            raise ClassroomError(sentence(error)) from error

    def _wait(self) -> None:
        try:
            self._take_turn()
        except ValueError as error:
            raise ClassroomError(sentence(error)) from error

    def _compute(self, question: Question, link: Link | None) -> Truth:
        try:
            return truth_of(question, self._run(link))
        except ValueError as error:
            raise ClassroomError(
                Translatable("The right answer cannot be computed here: {why}", why=sentence(error))
            ) from error

    def _keep(self, key: tuple[str, int], truth: Truth) -> None:
        with self._lock:
            self._found[key] = truth
            if len(self._found) > _MOST:
                oldest, _ = self._found.popitem(last=False)
                self._computing.pop(oldest, None)
