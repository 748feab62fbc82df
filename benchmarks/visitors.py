"""Visitors without a browser: each opens a page by link, types sentences of its own, presses controls, and checks that
the answer belongs to its own sentence.

`python -m benchmarks.visitors http://127.0.0.1:8501 --visitors 30 --seconds 60 --thought 5` measures a server that runs
already; `--fronts 2` instead of the address starts a cluster for it. The exit status is 1 for an error, another's
answer or a missed target.
"""

import argparse
import random
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count

from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import WebSocketException

from attnviz.kit.wire import unpack
from benchmarks.instance import instance
from benchmarks.report import Row, table
from benchmarks.timing import percentile
from tests.websocket.visitor import Shown, Visitor

_WHO = ("My sister", "The old man", "Our teacher", "A young woman", "His brother", "The doctor", "The king", "A child")
_DID = ("bought", "wants to sell", "has lost", "gave me", "is looking for", "found", "painted", "remembers")
_WHAT = ("a red car", "two books", "the keys", "a small dog", "an old house", "the letter", "a bird", "the last train")
_WHEN = ("last week", "in the city", "with her friends", "before the war", "in the morning", "when I was young")
_LANGUAGES = ("fr", "de", "es", "zh")
_TABS = ("Links", "Whole model", "Neuron")
_NUMBERS = count(1)


@dataclass
class Tally:
    """Counts over visitors: seconds and bytes of each answer, answers that were another's, and errors in words."""

    seconds: list[float] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    visits: int = 0

    def add(self, other: "Tally") -> None:
        """Add the counts of another visitor."""
        for name in ("seconds", "received", "foreign", "errors"):
            getattr(self, name).extend(getattr(other, name))
        self.visits += other.visits


@dataclass(frozen=True)
class Load:
    """The number of visitors, the seconds that they stay, and the seconds that each thinks between two choices.

    One leaves after so many `answers` (0: never), and another comes in its place, `visits` in all (0: until the end).
    """

    visitors: int
    seconds: float
    thought: tuple[float, float] = (0.0, 0.0)
    answers: int = 0
    visits: int = 0
    seed: int = 0


def own_sentence(dice: random.Random) -> str:
    """Write a sentence that no other visitor types: it contains a number of its own."""
    return f"{dice.choice(_WHO)} {dice.choice(_DID)} {dice.choice(_WHAT)} {dice.choice(_WHEN)}, {next(_NUMBERS)} times."


def is_own(shown: Shown, sentence: str) -> bool:
    """Whether the Heads picture that is shown is of `sentence`, by the tokens above its maps."""
    widget = shown.widgets.get("heads")
    if widget is None:
        return False
    line = unpack(widget[1].bytes).header["strip"]["lines"][0]
    special = set(line["special"])
    told = "".join(token for at, token in enumerate(line["tokens"]) if at not in special)
    return told.replace(" ", "") == sentence.replace(" ", "")


def run(address: str, load: Load, headers: Sequence[Mapping[str, str]] = ({},)) -> Tally:
    """Run all visitors at once; visitor number n sends `headers[n]` (from the start again if there are fewer)."""
    total, until = Tally(), time.monotonic() + load.seconds
    with ThreadPoolExecutor(load.visitors) as pool:
        told = [pool.submit(_stay, address, load, until, (n, headers[n % len(headers)])) for n in range(load.visitors)]
        for one in told:
            total.add(one.result())
    return total


def _stay(address: str, load: Load, until: float, who: tuple[int, Mapping[str, str]]) -> Tally:
    """Run one visitor after another, until the time is up."""
    number, headers = who
    dice, tally = random.Random(f"{load.seed} {number}"), Tally()
    time.sleep(dice.uniform(0, load.thought[1]))
    while time.monotonic() < until and not (load.visits and tally.visits >= load.visits):
        try:
            with Visitor(address, headers=headers) as visitor:
                _visit(visitor, load, (until, dice), tally)
        except (TimeoutError, OSError, WebSocketException) as error:
            tally.errors.append(f"{type(error).__name__}: {error}")
            time.sleep(0.5)
    return tally


def _visit(visitor: Visitor, load: Load, stay: tuple[float, random.Random], tally: Tally) -> None:
    until, dice = stay
    sentence, to = own_sentence(dice), dice.choice(_LANGUAGES)
    tally.visits += 1
    _look(visitor.open("heads", {"src": sentence, "to": to}), sentence, tally)
    asked = 1
    while not load.answers or asked < load.answers:
        thought = dice.uniform(*load.thought)
        time.sleep(min(thought, max(0.0, until - time.monotonic())))
        if time.monotonic() >= until:
            return  # asked now, all would ask at the same moment
        asked += 1
        if dice.random() < 0.75:
            sentence = own_sentence(dice)
            _look(visitor.send(visitor.state("src-shown", string_value=sentence)), sentence, tally)
        else:
            tab = dice.choice(_TABS)
            for chosen in (tab, "Heads"):
                _look(visitor.send(_tab(visitor, chosen)), sentence if chosen == "Heads" else "", tally)


def _tab(visitor: Visitor, title: str) -> WidgetState:
    titles = [option.content for option in visitor.shown.widgets["pick-tab"][1].options]
    return visitor.state("pick-tab", string_array_value=[title] if title in titles else [])


def _look(shown: Shown, sentence: str, tally: Tally) -> None:
    """Count an answer; with a sentence, check that it is the answer's own."""
    tally.seconds.append(shown.seconds)
    tally.received.append(shown.received)
    tally.errors.extend(shown.exceptions)
    if sentence and not is_own(shown, sentence):
        tally.foreign.append(sentence)


def rows(tally: Tally, seconds: float) -> list[Row]:
    """Make the table's rows of a tally."""
    times = [1e3 * one for one in tally.seconds] or [0.0, 0.0]
    return [
        Row("answers", len(tally.seconds), ""),
        Row("answers a second", len(tally.seconds) / seconds, "/s"),
        Row("answer, p50", percentile(times, 50), "ms"),
        Row("answer, p95", percentile(times, 95), "ms", 400),
        Row("answer, worst", max(times), "ms"),
        Row("an answer's size, p50", percentile(tally.received or [0, 0], 50) / 1e3, "kB"),
        Row("another's answers", len(tally.foreign), "", 0),
        Row("errors", len(tally.errors), "", 0),
    ]


def measure(address: str, load: Load) -> list[Row]:
    """Measure a running instance; each visitor has an address of its own, if the instance trusts this proxy."""
    headers = [{"X-Forwarded-For": f"198.51.{number // 250}.{1 + number % 250}"} for number in range(load.visitors)]
    tally = run(address, load, headers)
    for error in list(dict.fromkeys(tally.errors))[:5]:
        print(error, file=sys.stderr)
    return rows(tally, load.seconds)


def main(arguments: list[str] | None = None) -> int:
    """Run the load that the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.visitors", description=__doc__)
    parser.add_argument("address", nargs="?", help="of a running dashboard; without it one is started")
    parser.add_argument(
        "--fronts", type=int, default=0, help="behind HAProxy in the one that is started (0: no HAProxy)"
    )
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--thought", type=float, default=5, help="seconds between two choices, half of it to all of it")
    parser.add_argument("--answers", type=int, default=0, help="a visitor leaves after so many, and another comes")
    given = parser.parse_args(arguments)
    load = Load(given.visitors, given.seconds, (given.thought / 2, given.thought), given.answers)
    if given.address:
        found = measure(given.address, load)
    else:
        with instance(given.fronts) as started:
            found = measure(started.address, load)
            found.append(Row("memory of all processes", started.memory() / 1e6, "MB"))
    print(table(found))
    return 0 if all(row.passed for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
