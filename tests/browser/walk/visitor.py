"""Somebody who walks through the dashboard: does things, waits until the page is at rest, and looks."""

import re
import time
from collections.abc import Iterable, Iterator
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
PATIENCE = 120  # seconds until a page has to be at rest
OURS = re.compile(r"/(attnviz|pages)/\w")
SAVES = ("PNG", "SVG", "CSV", "npz", "Download")


class Visitor:
    """A visitor with a page of its own. What goes wrong is told to the `report`, and the visitor walks on."""

    def __init__(self, who: int, context: BrowserContext, report: Report, files: dict[str, str]) -> None:
        self.who, self.report, self.files = who, report, files
        for script in SCRIPTS:
            context.add_init_script(script)
        self.page: Page = context.new_page()
        self.is_lost = False  # an exception is shown: what comes next begins anew
        self._heard: list[str] = []
        self._saved: list[Any] = []
        self._asked = 0.0
        self.page.on("console", lambda message: is_news(message) and self._heard.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self._heard.append(f"a script of the page raised: {error}"))
        self.page.on("download", lambda file: self._saved.append(file))

    def walk(self, wanted: Iterable[tuple[Act, bool]]) -> Iterator[None]:
        """Do what is `wanted`: acts, each with whether the page is reloaded and compared afterwards.

        Every yield waits until the page is at rest.
        """
        for act, is_compared in wanted:
            if not self._do(act):
                continue
            yield
            self._look(act)
            if is_compared and not self.is_lost and not self.page.evaluate("walkPage.isPassing()"):
                yield from self._compare()

    def _compare(self) -> Iterator[None]:
        before = self.picture()
        self._do(Act("reload"))
        yield
        self._look(Act("reload"))
        for difference in differences(before, self.picture()) if not self.is_lost else ():
            self.fail(f"after a reload, {difference}")

    def _do(self, act: Act) -> bool:
        self.report.did(self.who, act)
        self._asked = time.monotonic()
        try:
            acts.do(self.page, act, self.files)
        except FAILED as error:
            self.fail(f"{act} was not possible: {_reason(error)}")
            return False
        return True

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
        """What can be used on the page as it is."""
        return self.page.evaluate("walkControls.all()")

    def shortcuts(self) -> list[tuple[str, list[str]]]:
        """What keys the components say they have."""
        return self.page.evaluate("walkControls.keys()")

    def picture(self) -> dict[str, Any]:
        """What is shown, with the pointer and the focus out of the way."""
        self.page.mouse.move(3, self.page.viewport_size["height"] - 3)
        self.page.evaluate("document.activeElement?.blur()")
        self.page.wait_for_timeout(80)
        return self.page.evaluate("walkPage.picture()")

    def fail(self, what: str) -> None:
        """Tell the report."""
        self.report.failed(self.who, self.page, what)

    def _look(self, act: Act) -> None:
        look = self.page.evaluate("walkPage.look()")
        self.is_lost = bool(look["problems"])
        heard, self._heard[:] = list(self._heard), []
        for what in (*look["problems"], *heard, *self._log(), *self._exports(act)):
            self.fail(what)
        for what in () if self.is_lost else sentences.problems(look):
            self.fail(what)

    def _log(self) -> list[str]:
        lines = self.report.log_lines()
        said = [line for line in lines if not line.startswith((" ", "Traceback", "Stack"))]
        ours = [line.strip() for line in lines if line.startswith("  File") and OURS.search(line)]
        return [f"the server's log: {' | '.join((*said, *ours[-2:], *lines[-1:]))[:600]}"] if lines else []

    def _exports(self, act: Act) -> list[str]:
        """A button that saves a file has saved one, with something in it."""
        name = str(dict(act.control).get("name", ""))
        is_expected = act.do == "click" and name.startswith(SAVES)
        for _ in range(50 if is_expected else 0):
            if self._saved:
                break
            self.page.wait_for_timeout(100)  # which also lets the page tell of a file
        saved, self._saved[:] = list(self._saved), []
        if is_expected and not saved:
            return [f"“{name}” saved no file"]
        return [f"{file.suggested_filename} is empty" for file in saved if not file.path().stat().st_size]


def _reason(error: Exception) -> str:
    """What was in the way: Playwright says that on a line of its own."""
    lines = str(error).splitlines()
    return next((line.strip("- ") for line in lines if "intercepts" in line or "not visible" in line), lines[0])


def together(walks: dict[Visitor, Iterator[None]]) -> None:
    """All visitors at the same time: whoever's page is at rest goes on, while the others' pages still run."""
    live = dict(walks)
    for walk in live.values():
        next(walk, None)
    while live:
        ready = [visitor for visitor in live if visitor.is_at_rest()]
        for visitor in ready:
            if next(live[visitor], live) is live:
                del live[visitor]
        if not ready:
            time.sleep(0.04)
