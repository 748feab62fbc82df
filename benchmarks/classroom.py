"""Classes on the real dashboard, without a browser: students join, follow their teacher and answer; each screen asks
for news once a second, as a browser does.

`python -m benchmarks.classroom --classes 5 --students 20` measures how long a teacher waits to see an answer, and
counts answers that were lost or doubled; the exit status is 1 for one of those, or for a wait of over 2 s.
"""

import argparse
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import create_engine, text

from benchmarks.report import Row, table
from benchmarks.timing import percentile, processor_seconds
from tests.browser.server import free_port, start
from tests.classroom.lesson import choices_file
from tests.websocket.screen import Screen
from tests.websocket.visitor import Shown

_LESSON, _PATIENCE = "choices", 600.0
_SEEN_WITHIN = 2_000  # ms


@dataclass
class OneClass:
    """A class and its times by step: when each answer was sent, and when the teacher's page showed how many."""

    steps: int
    students: int
    code: str = ""
    is_started: threading.Event = field(default_factory=threading.Event)
    sent: dict[int, list[float]] = field(default_factory=dict)
    seen: dict[int, list[tuple[float, int]]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def waits(self) -> list[float]:
        """Compute the milliseconds from each answer's sending to the teacher's screen that counts it."""
        found = []
        for at, sent in self.sent.items():
            for number, when in enumerate(sorted(sent), start=1):
                shown = [time_ for time_, count in self.seen[at] if count >= number]
                found.append(1e3 * (min(shown) - when) if shown else float("inf"))
        return found


def _teach(address: str, one: OneClass) -> None:
    try:
        _guide(address, one)
    finally:
        one.is_started.set()  # also after an error: the students wait for it


def _guide(address: str, one: OneClass) -> None:
    with Screen(address, patience=_PATIENCE) as screen:
        screen.open("lessons")
        screen.send(screen.state(f"class-{_LESSON}", trigger_value=True))
        screen.go("class")
        one.code = _code(screen)
        one.is_started.set()
        screen.wait_for(
            lambda shown: f"{one.students} here" in "".join(part.body for part in shown.elements_of("html"))
        )
        screen.press("class-open")
        for at in range(one.steps):
            seen = one.seen.setdefault(at, [])
            screen.wait_for(lambda shown, seen=seen: _count_answers(shown, seen) == one.students)
            screen.press("class-reveal")
            if at + 1 < one.steps:
                screen.press("class-next")
                screen.press("class-open")


def _code(screen: Screen) -> str:
    (invitation,) = re.findall(
        r"<strong>([A-Z ]+)</strong>", "".join(part.body for part in screen.shown.elements_of("html"))
    )
    return invitation.replace(" ", "")


def _count_answers(shown: Shown, seen: list[tuple[float, int]]) -> int:
    """Read how many have answered from the teacher's page, and note when."""
    told = [re.match(r"(\d+) of", bar.text) for bar in shown.elements_of("progress")]
    count = int(told[0][1]) if told and told[0] else 0
    seen.append((time.monotonic(), count))
    return count


def _study(address: str, one: OneClass, number: int, seed: int) -> None:
    dice = random.Random(f"{seed} {number}")
    one.is_started.wait(_PATIENCE)
    time.sleep(dice.uniform(0, 3))
    with Screen(address, patience=_PATIENCE) as screen:
        screen.open("class", {"class": one.code})
        typed = f"{one.code[:4].lower()} {one.code[4:].lower()}"
        screen.send(
            screen.state("class-code", string_value=typed),
            screen.state("class-nickname", string_value=f"Student {number}"),
            screen.state("FormSubmitter:class-join-Join", trigger_value=True),
        )
        for at in range(one.steps):
            screen.wait_for(lambda shown, at=at: _is_asked(shown, at))
            time.sleep(dice.uniform(0, 3))
            _answer(screen, one, at, dice)


def _is_asked(shown: Shown, at: int) -> bool:
    return any(f"-{at}-before-" in key for key, (kind, _) in shown.widgets.items() if kind == "radio")


def _answer(screen: Screen, one: OneClass, at: int, dice: random.Random) -> None:
    """Choose, then press the button, as a student does."""
    (key, proto), *_ = [(key, proto) for key, (kind, proto) in screen.shown.widgets.items() if kind == "radio"]
    choice = screen.state(key, string_value=dice.choice(list(proto.options)))
    screen.choose(key, string_value=choice.string_value)
    with one.lock:
        one.sent.setdefault(at, []).append(time.monotonic())
    screen.press("class-submit", choice)


def run(address: str, classes: list[OneClass]) -> None:
    """Run all classes at once; the students of one begin when its code is there. Raises the error of any."""
    with ThreadPoolExecutor(sum(one.students + 1 for one in classes)) as pool:
        told = [pool.submit(_teach, address, one) for one in classes]
        told += [
            pool.submit(_study, address, one, number, seed)
            for seed, one in enumerate(classes)
            for number in range(one.students)
        ]
        for each in told:
            each.result()


def rows(classes: list[OneClass], saved: Counter, cpu: float, seconds: float) -> list[Row]:
    """Make the table's rows; `saved` counts answers by class, member and step, `cpu` is the server's, in seconds."""
    waits = [wait for one in classes for wait in one.waits()]
    expected = sum(one.steps * one.students for one in classes)
    return [
        Row("answers", len(waits), "", expected, "at least"),
        Row("teacher sees an answer, p50", percentile(waits, 50), "ms"),
        Row("teacher sees an answer, p95", percentile(waits, 95), "ms"),
        Row("teacher sees an answer, worst", max(waits), "ms", _SEEN_WITHIN),
        Row("answers lost", expected - len(saved), "", 0),
        Row("answers doubled", sum(count - 1 for count in saved.values()), "", 0),
        Row("whole class", seconds, "s"),
        Row("processor time of the server", cpu, "s"),
    ]


def _count_saved(file: Path) -> Counter:
    with create_engine(f"sqlite:///{file}").connect() as connection:
        return Counter(tuple(row) for row in connection.execute(text("select class_id, member_id, step from answers")))


def main(arguments: list[str] | None = None) -> int:
    """Run the classes that the command line asks for, on a dashboard of their own; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classroom", description=__doc__)
    parser.add_argument("--classes", type=int, default=1)
    parser.add_argument("--students", type=int, default=30, help="of each class")
    parser.add_argument("--steps", type=int, default=10)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / f"{_LESSON}.md").write_text(choices_file(given.steps), encoding="utf-8")
        environment = {"ATTNVIZ_DATABASE": str(folder / "classes.sqlite"), "ATTNVIZ_LESSONS": name}
        port = free_port()
        server = start(port, folder / "log", environment)
        try:
            classes = [OneClass(given.steps, given.students) for _ in range(given.classes)]
            began, before = time.monotonic(), processor_seconds(server.pid)
            run(f"http://127.0.0.1:{port}", classes)
            cpu, seconds = processor_seconds(server.pid) - before, time.monotonic() - began
        finally:
            server.terminate()
            server.wait(timeout=20)
        found = rows(classes, _count_saved(folder / "classes.sqlite"), cpu, seconds)
    print(table(found))
    return 0 if all(row.passed for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
