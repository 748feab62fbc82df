"""What a button computes on a shared server takes a turn, and ends when a run's time is over."""

import json
from collections.abc import Iterator

import pytest

from tests.browser.served.process import start_server
from tests.lessons.front_matter import FRONT_MATTER
from tests.websocket.visitor import Visitor

MOST_STEPS = 60


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Provide a server that gives a run one second."""
    folder = tmp_path_factory.mktemp("presses")
    said = {"ATTNVIZ_RUN_SECONDS": "1", "ATTNVIZ_DATABASE": str(folder / "classes.sqlite")}
    with start_server(folder / "server.log", said) as (address, _):
        yield address


def long_draft() -> str:
    """Write a lesson of as many steps as there may be, each with a text of its own."""
    steps = []
    for number in range(MOST_STEPS):
        text = "+".join(f"The+{number}+dogs+ran+over+the+{word}+hills." for word in ("red", "old", "far", "big") * 5)
        link = f"/heads?src={text}&to=fr&kind=cross&layer=1&head=2"
        steps.append(f"## One\n\n{link}\n\n```question\nkind: cell\nask: Which?\n```\n")
    return "\n".join([FRONT_MATTER, *steps])


def test_checking_a_draft_of_long_steps_ends_with_the_time_of_one_run(address: str) -> None:
    with Visitor(address, patience=120) as visitor:
        visitor.open("lessons", {"edit": "0"})
        kept = json.dumps({"kept": {"text": json.dumps(long_draft()), "revision": 5}})
        shown = visitor.send(visitor.state("draft-keeper", json_value=kept))
        assert not shown.exceptions
        stopped = [alert for alert in shown.alerts if "This step is not checked" in alert]
        assert 0 < len(stopped) < MOST_STEPS
