"""What a button computes on a shared server takes a turn, and ends when a run's time is over."""

import json
from collections.abc import Iterator

import pytest

from attnviz.lessons.draft import MOST_STEPS, Draft, DraftStep
from tests.browser.served.process import start_server
from tests.websocket.visitor import Visitor


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Provide a server that gives a run one second."""
    folder = tmp_path_factory.mktemp("presses")
    said = {"ATTNVIZ_RUN_SECONDS": "1", "ATTNVIZ_DATABASE": str(folder / "classes.sqlite")}
    with start_server(folder / "server.log", said) as (address, _):
        yield address


def long_draft() -> Draft:
    """Make a lesson of as many steps as there may be, each with a text of its own."""
    steps = []
    for number in range(MOST_STEPS):
        text = "+".join(f"The+{number}+dogs+ran+over+the+{word}+hills." for word in ("red", "old", "far", "big") * 5)
        question = {"kind": "cell", "ask": "Which?"}
        steps.append(DraftStep("One", "", f"/heads?src={text}&to=fr&kind=cross&layer=1&head=2", question))
    return Draft("Long", "10", "tests", "en", "", tuple(steps))


def test_checking_a_draft_of_long_steps_ends_with_the_time_of_one_run(address: str) -> None:
    with Visitor(address, patience=120) as visitor:
        visitor.open("lessons", {"edit": "0"})
        kept = json.dumps({"kept": {"text": long_draft().to_json(), "revision": 5}})
        shown = visitor.send(visitor.state("draft-keeper", json_value=kept))
        assert "draft-check" in shown.widgets
        shown = visitor.send(visitor.state("draft-check", trigger_value=True))
        assert not shown.exceptions
        stopped = [alert for alert in shown.alerts if alert.startswith("The check stopped after step")]
        assert len(stopped) == 1
        assert int(stopped[0].split()[5]) < MOST_STEPS
