"""A simulated visitor of the dashboard, who acts, waits until the page is at rest, and looks."""

import re
import time
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page

from tests.browser.walk import acts, sentences
from tests.browser.walk.acts import FAILED, Act
from tests.browser.walk.pictures import differences
from tests.browser.walk.report import Report, is_news

HERE = Path(__file__).parent
SCRIPTS = [(HERE / name).read_text(encoding="utf-8") for name in ("controls.js", "shown.js")]
REST = 330  # milliseconds without a word to the server: components speak after 250
LOOKS = (
    0.15  # seconds between two looks whether a visitor is at rest: each look costs the machine that the pages run on
)
PATIENCE = 120  # seconds until a page has to be at rest
OURS = re.compile(r"/(attnviz|pages)/\w")
MOST_SEARCHES = 3  # for the act after which a reload shows another page: each takes a minute
SAVES = ("PNG", "SVG", "CSV", "npz", "Download")


class Visitor:
    """A visitor with a page of its own. It reports failures to the `report` and walks on."""

    def __init__(self, who: int, context: BrowserContext, report: Report, files: dict[str, str]) -> None:
        self.who, self.report, self.files = who, report, files
        for script in SCRIPTS:
            context.add_init_script(script)
        self.page: Page = context.new_page()
        self.is_lost = False  # an exception is shown: what comes next begins anew
        self._heard: list[str] = []
        self._saved: list[Any] = []
        self._asked = 0.0
        self._left: dict[str, Any] | None = None
        self._start, self._since, self._searches = "/", list[Act](), 0
        self.page.on("console", lambda message: is_news(message) and self._heard.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self._heard.append(f"a script of the page raised: {error}"))
        self.page.on("download", lambda file: self._saved.append(file))

    def walk(self, wanted: Iterable[Act]) -> Iterator[None]:
        """Do what is `wanted`, and look after each act. A reload has to show what was shown before it.

        Every yield waits until the page is at rest.
        """
        for act in wanted:
            if self._uncovers(act):
                yield
            before = self._expected_picture(act)
            if not self._do(act):
                continue
            yield
            if doubts := self._look(act):
                yield from self._look_again(doubts)
            if before and not self.is_lost:
                yield from self._compare(act, differences(before, self.picture()))
            self._remember(act)

    def leave(self) -> None:
        """Call before an act that Back undoes: the next Back has to show what is shown now."""
        self._left = self.picture()

    def _expected_picture(self, act: Act) -> dict[str, Any] | None:
        """Return the picture that has to be shown after an act, where it is known."""
        left, self._left = self._left, None if act.do == "back" else self._left
        if act.do == "reload" and not self.is_lost and not self.page.evaluate("walkPage.isPassing()"):
            return self.picture()
        return left if act.do == "back" else None

    def _remember(self, act: Act) -> None:
        if act.do in ("open", "reload"):
            self._start, self._since = self.page.url, []
        else:
            self._since.append(act)

    def _compare(self, act: Act, found: list[str]) -> Iterator[None]:
        if not found:
            return
        if act.do == "back":
            guilty = str(self._since[-1])
        else:
            here = self.page.url
            guilty = yield from self._guilty()
            self._try(Act("open", value=here))
            yield
        for difference in found:
            self.fail(f"{guilty}, and after {act.do}: {difference}")

    def _guilty(self) -> Generator[None, None, str]:
        """Find the act since the last reload that makes a reload show another page, by repeating as few acts as
        possible.
        """
        done, low, high = self._since, 0, len(self._since)
        self._searches += 1
        if self._searches > MOST_SEARCHES or not (yield from self._differs(done)):
            return f"one of {'; '.join(map(str, done))}"
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if (yield from self._differs(done[:middle])) else (middle, high)
        return str(done[low])

    def _differs(self, done: list[Act]) -> Generator[None, None, bool]:
        for act in (Act("open", value=self._start), *done):
            if self._uncovers(act):
                yield
            self._try(act)
            yield
        before = self.picture()
        self._try(Act("reload"))
        yield
        return bool(differences(before, self.picture()))

    def _uncovers(self, act: Act) -> bool:
        self._asked = time.monotonic()
        try:
            return not self.is_lost and acts.uncovers(self.page, act)
        except FAILED:
            return False  # which the act itself will tell

    def _try(self, act: Act) -> Exception | None:
        """Do an act; return the obstacle if it could not be done."""
        self._asked = time.monotonic()
        try:
            acts.do(self.page, act, self.files)
        except FAILED as error:
            return error
        return None

    def _do(self, act: Act) -> bool:
        self.report.did(self.who, act)
        if error := self._try(act):
            self.fail(f"{act} was not possible: {_reason(error)}")
        return error is None

    def is_at_rest(self) -> bool:
        """Whether what was done last has had its effect. A page that takes too long is given up, with a failure."""
        try:
            rests = bool(self.page.evaluate("(rest) => window.walkPage?.isAtRest(rest)", REST))
        except FAILED:  # the page is being changed for another one
            rests = False
        if not rests and time.monotonic() - self._asked > PATIENCE:
            self.fail(f"the page was not at rest after {PATIENCE} seconds")
            return self.is_lost or not setattr(self, "is_lost", True)
        return rests

    def controls(self) -> list[dict[str, Any]]:
        """Return the controls of the page as it is."""
        return self.page.evaluate("walkControls.all()")

    def shortcuts(self) -> list[tuple[str, list[str]]]:
        """Return the keys of the components' help."""
        return self.page.evaluate("walkControls.keys()")

    def picture(self) -> dict[str, Any]:
        """Return the page's picture, with the pointer and the focus out of the way."""
        self.page.mouse.move(3, self.page.viewport_size["height"] - 3)
        self.page.evaluate("document.activeElement?.blur()")
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return self.page.evaluate("walkPage.picture()")

    def fail(self, what: str) -> None:
        """Report a failure."""
        self.report.add_failure(self.who, self.page, what)

    def _look(self, act: Act) -> list[str]:
        """Report wrong parts of the page; a picture of another sentence gets time to be replaced."""
        look = self.page.evaluate("walkPage.look()")
        self.is_lost = bool(look["problems"])
        heard, self._heard[:] = list(self._heard), []
        for what in (*look["problems"], *heard, *self._log(), *self._exports(act), *self._choice_problems(act)):
            self.fail(what)
        return [] if self.is_lost else sentences.problems(look)

    def _look_again(self, doubts: list[str]) -> Iterator[None]:
        self.page.evaluate("walkPage.act()")
        yield
        for what in set(doubts).intersection(sentences.problems(self.page.evaluate("walkPage.look()"))):
            self.fail(what)

    def _log(self) -> list[str]:
        lines = self.report.log_lines()
        said = [line for line in lines if not line.startswith((" ", "Traceback", "Stack"))]
        ours = [line.strip() for line in lines if line.startswith("  File") and OURS.search(line)]
        return [f"the server's log: {' | '.join((*said, *ours[-2:], *lines[-1:]))[:600]}"] if lines else []

    def _choice_problems(self, act: Act) -> list[str]:
        """Check that a list holds the option that was chosen in it."""
        if act.do != "choose" or self.is_lost:
            return []
        held = self.page.evaluate("(wanted) => walkControls.get(wanted)?.value ?? null", dict(act.control))
        return [] if held in (None, act.value) else [f"{act} has no effect: it is {held!r} again"]

    def _exports(self, act: Act) -> list[str]:
        """Check that a button that saves a file has saved one, and that it is not empty."""
        name = str(dict(act.control).get("name", ""))
        is_expected = act.do == "click" and name.startswith(SAVES)
        for _ in range(50 if is_expected else 0):
            if self._saved:
                break
            self.page.wait_for_timeout(100)  # which also lets the page tell of a file
        saved, self._saved[:] = list(self._saved), []
        if is_expected and not saved:
            return [f"“{name}” saved no file"]
        broken = [(file.suggested_filename, file.failure() or not file.path().stat().st_size) for file in saved]
        return [f"{name} was not saved whole: {'it is empty' if why is True else why}" for name, why in broken if why]


def _reason(error: Exception) -> str:
    """Read from Playwright's error what was in the way of an act."""
    lines = str(error).splitlines()
    return next((line.strip("- ") for line in lines if "intercepts" in line or "not visible" in line), lines[0])


def together(walks: dict[Visitor, Iterator[None]]) -> None:
    """Let all visitors walk at once: a visitor whose page is at rest acts while the others' pages still run."""
    live = dict(walks)
    for walk in live.values():
        next(walk, None)
    while live:
        ready = [visitor for visitor in live if visitor.is_at_rest()]
        for visitor in ready:
            if next(live[visitor], live) is live:
                del live[visitor]
        if not ready:
            time.sleep(LOOKS)
