"""The acts of a walk and its failures: a script that can be walked again, screenshots, and one list at the end."""

import re
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page

from tests.browser.walk.acts import FAILED, Act

# What Streamlit and PyTorch themselves say, and why that is nothing.
LOG_LINES = {
    r"Uvicorn server started on": "its start",
    r"You can now view your Streamlit app|^\s*(Local |Network )?URL: ": "its start",
    r"^USDT:.*SyncActivityProfilerHandler": "PyTorch's profiler, with which the pages measure memory",
    r"External init callback must run in same thread as registerClient": "the same profiler, in a visitor's thread",
    r"^\s*(Stopping\.\.\.)?\s*$": "its end; empty lines",
}
CONSOLE_LINES = {
    # On an address such as /heads it looks for its server at /heads/_stcore first, and then at /_stcore.
    r"/\w+/_stcore/(health|host-config)": "it tries two places",
}


@dataclass
class Failure:
    """A failure: its sentence, the number of acts before it, where it was last seen, and how often."""

    what: str
    number: int
    after: str
    address: str
    screenshot: str
    times: int = 1

    def __str__(self) -> str:
        often = f" ({self.times} times)" if self.times > 1 else ""
        where = f"after act {self.number}: {self.after}", f"at {self.address}", self.screenshot
        return "\n      ".join((f"{self.what}{often}", *where))


class Report:
    """Collects acts and failures of all visitors of one dashboard; `folder` takes the script and the screenshots."""

    def __init__(self, folder: Path, log: Path, seed: int) -> None:
        self.folder, self.log, self.seed = folder, log, seed
        self.acts: list[tuple[int, Act]] = []
        self.failures: dict[str, Failure] = {}
        self._read = 0

    @property
    def script(self) -> Path:
        """The acts, one per line: ATTNVIZ_WALK_SCRIPT walks them again."""
        return self.folder / "walk.jsonl"

    def did(self, who: int, act: Act) -> None:
        """Write an act down before it is tried."""
        self.acts.append((who, act))
        with self.script.open("a", encoding="utf-8") as script:
            script.write(f"{who} {act.to_json()}\n")

    def add_failure(self, who: int, page: Page, what: str) -> None:
        """Note a failure; a repetition that differs in numbers alone is counted."""
        key = re.sub(r"\d+", "#", what)[:160]
        if key in self.failures:
            self.failures[key].times += 1
            return
        picture = self.folder / f"{len(self.failures)}.png"
        try:
            page.screenshot(path=picture)
        except FAILED:
            picture = "no screenshot could be taken"
        last = next((act for by, act in reversed(self.acts) if by == who), None)
        self.failures[key] = Failure(what, len(self.acts), f"visitor {who}: {last}", page.url, str(picture))
        (self.folder / "failures.txt").write_text(str(self), encoding="utf-8")  # a long walk is read while it goes on

    def log_lines(self) -> list[str]:
        """Return the lines that the server has printed since the last call, less those that are named above."""
        with self.log.open(encoding="utf-8", errors="replace") as log:
            log.seek(self._read)
            news = log.read()
            self._read = log.tell()
        return [line for line in news.splitlines() if not any(re.search(known, line) for known in LOG_LINES)]

    def __str__(self) -> str:
        said = "\n".join(f"  {i + 1}. {failure}" for i, failure in enumerate(self.failures.values()))
        return (
            f"{len(self.failures)} things went wrong in {len(self.acts)} acts (seed {self.seed}).\n"
            f"Again: ATTNVIZ_WALK_SCRIPT={self.script} make walk\n{said}"
        )


def is_news(message: ConsoleMessage) -> bool:
    """Whether a line of the browser's console is an error or a warning that is not named above."""
    said = f"{message.text} {message.location.get('url', '')}"
    return message.type in ("error", "warning") and not any(re.search(known, said) for known in CONSOLE_LINES)
