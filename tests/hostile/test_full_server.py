"""A server with a place for one visitor of each address, and a second for each run: who is refused, and what ends."""

import json
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.browser.served.process import start_server
from tests.hostile import raw
from tests.hostile.watched import LINUX_ONLY, comes_true
from tests.lessons.front_matter import FRONT_MATTER
from tests.websocket.visitor import Visitor

pytestmark = LINUX_ONLY
MOST_STEPS = 60


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Provide the server, and its log; a proxy says who comes from which address."""
    log = tmp_path_factory.mktemp("full") / "log"
    said = {
        "ATTNVIZ_VISITORS_AN_ADDRESS": "1", "ATTNVIZ_PROXIES": "127.0.0.1,127.0.0.9", "ATTNVIZ_RUN_SECONDS": "1",
        "ATTNVIZ_DATABASE": str(log.with_name("classes.sqlite")),
    }  # fmt: skip
    with start_server(log, said) as (address, _):
        yield address, log


def test_a_websocket_that_is_refused_is_one_line_of_the_log(full: tuple[str, Path]) -> None:
    address, log = full
    with raw.open_websocket(address):
        before = len(log.read_text(encoding="utf-8").splitlines())
        with pytest.raises(AssertionError, match=" 429 "), raw.open_websocket(address):
            pass
        comes_true(lambda: len(log.read_text(encoding="utf-8").splitlines()) > before, 10)
        time.sleep(1)
        added = log.read_text(encoding="utf-8").splitlines()[before:]
    assert len(added) == 1
    assert '"reason": "full"' in added[0]


@pytest.mark.parametrize(
    ("first", "others", "is_let_in"),
    [
        ("2001:db8::1", ("2001:db8::2", "2001:db8:0:0:ffff::3", "2001:0DB8::4"), False),
        ("2001:db8:1::1", ("2001:db8:1:1::1", "2001:db8:2::1"), True),
        ("::ffff:192.0.2.1", ("192.0.2.1", "::ffff:c000:201"), False),
        ("::ffff:192.0.2.7", ("::ffff:192.0.2.8", "192.0.2.9"), True),
    ],
)
def test_an_address_of_ipv6_is_a_64_however_it_is_written(full, first: str, others: tuple[str, ...], is_let_in) -> None:
    address, _ = full
    with raw.open_websocket(address, said_to_be=first):
        for other in others:
            expected = nullcontext() if is_let_in else pytest.raises(AssertionError, match=" 429 ")
            with expected, raw.open_websocket(address, said_to_be=other):
                pass


def long_draft() -> str:
    """Write a lesson of as many steps as there may be, each with a text of its own."""
    steps = []
    for number in range(MOST_STEPS):
        text = "+".join(f"The+{number}+dogs+ran+over+the+{word}+hills." for word in ("red", "old", "far", "big") * 5)
        link = f"/heads?src={text}&to=fr&kind=cross&layer=1&head=2"
        steps.append(f"## One\n\n{link}\n\n```question\nkind: cell\nask: Which?\n```\n")
    return "\n".join([FRONT_MATTER, *steps])


def test_checking_a_draft_of_long_steps_ends_with_the_time_of_one_run(full: tuple[str, Path]) -> None:
    with Visitor(full[0], patience=120) as visitor:
        visitor.open("lessons", {"edit": "0"})
        kept = json.dumps({"kept": {"text": json.dumps(long_draft()), "revision": 5}})
        shown = visitor.send(visitor.state("draft-keeper", json_value=kept))
        assert not shown.exceptions
        stopped = [alert for alert in shown.alerts if "This step is not checked" in alert]
        assert 0 < len(stopped) < MOST_STEPS
