"""No message is referred to that the browser has evicted by the time it reads the reference."""

from types import SimpleNamespace
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from attnviz.app import streamlit_internals
from attnviz.app.sending import client_cache

streamlit_internals.install()
AGE, FRAGMENT = 8, "f"  # a fragment's message has its name here
REFUSED = "a message that the browser had evicted"


class Browser:
    """Streamlit's own cache of messages, as its script has it: by hash, with the run that read it last."""

    def __init__(self, age: int) -> None:
        self.age, self.run, self.kept = age, 0, {}

    def read(self, message: ForwardMsg) -> None:
        name = message.ref_hash or message.hash
        assert name in self.kept or not message.ref_hash, REFUSED
        self.kept[name] = self.run

    def end(self, part: str) -> None:
        """End a fragment: only its own messages go."""
        self.run += 1
        self.kept = {
            name: run
            for name, run in self.kept.items()
            if self.run - run <= self.age or (part and not name.startswith(part))
        }


class Run(NamedTuple):
    """A run that draws messages; one of a fragment draws "f" alone. The browser asked for it when it had read all but
    the `behind` runs before. Nothing of one that `is_cut` is sent, its end neither.
    """

    drawn: frozenset[str]
    part: str
    behind: int
    is_cut: bool


def replay(runs: list[Run], *, is_told: bool) -> None:
    """`is_told` says whether the server looks at what it sent, as it does here, or at what the browser named alone."""
    browser, session, named = Browser(AGE), session_of(), [frozenset[str]()]
    flush = client_cache.note_sent(lambda session: session.queue)
    for number, run in enumerate(runs):
        asked = named[max(0, number - run.behind)]
        begun = begin(session, asked, [run.part] if run.part else [])
        kept = begun if is_told else asked
        session.queue = [] if run.is_cut else [message(name, is_whole=name not in kept) for name in run.drawn]
        for sent in flush(session):
            browser.read(sent)
        if not run.is_cut:
            browser.end(run.part)
        named.append(frozenset(browser.kept))


def begin(session: SimpleNamespace, named: frozenset[str], parts: list[str]) -> frozenset[str]:
    """Begin a run; return the messages that it may refer to."""
    run = client_cache.drop_evicted(lambda session, asked: session.begun.append(asked), lambda one: one.connection)
    run(session, RerunData(cached_message_hashes=named, fragment_id_queue=parts))
    return session.begun[-1].cached_message_hashes


def session_of() -> SimpleNamespace:
    """Make a visitor's session, which is the runner of its runs as well."""
    return SimpleNamespace(_pages_manager=type("Pages", (), {})(), begun=[], queue=[], connection="first")


def message(name: str, *, is_whole: bool = True) -> ForwardMsg:
    made = ForwardMsg(hash=name) if is_whole else ForwardMsg(ref_hash=name)
    made.metadata.cacheable = is_whole
    if is_whole and name == FRAGMENT:
        made.delta.fragment_id = FRAGMENT
    return made


def run(drawn: str, *, part: str = "", behind: int = 0, is_cut: bool = False) -> Run:
    return Run(frozenset(drawn), part, behind, is_cut)


WHOLE = st.builds(run, st.sets(st.sampled_from("abf")).map("".join), behind=st.integers(0, 3), is_cut=st.booleans())
PARTS = st.builds(
    run, st.sampled_from(("f", "")), part=st.just(FRAGMENT), behind=st.integers(0, 3), is_cut=st.booleans()
)
POLLED = st.integers(1, 12).map(lambda times: [run("", part=FRAGMENT)] * times)  # a class asks for news
RUNS = st.lists(st.one_of(WHOLE.map(lambda one: [one]), PARTS.map(lambda one: [one]), POLLED), max_size=12).map(
    lambda found: [one for some in found for one in some]
)


@settings(max_examples=200)
@given(RUNS)
def test_no_order_of_runs_and_requests_misses(runs) -> None:
    replay(runs, is_told=True)


@pytest.mark.parametrize(
    "runs",
    [
        [run("ab"), *[run("b")] * AGE, run("a", behind=1)],
        [run("ab"), *[run("", part=FRAGMENT)] * AGE, run("ab", is_cut=True), run("b"), run("a", behind=1)],
        [run("f", part=FRAGMENT), *[run("", part=FRAGMENT)] * AGE, run("f", part=FRAGMENT, behind=1)],
    ],
    ids=["pressed quickly", "while a class asks for news", "news that come back"],
)
def test_what_streamlit_itself_does_misses(runs) -> None:
    replay(runs, is_told=True)
    with pytest.raises(AssertionError, match=REFUSED):
        replay(runs, is_told=False)


@pytest.mark.parametrize("polls", [0, 30])
def test_a_message_that_every_whole_run_sends_is_sent_once(polls: int) -> None:
    sent = client_cache.ClientCache()
    for number in range(20):
        assert sent.begin(frozenset("ab" if number else ""), is_part=False) == (frozenset("a") if number else set())
        sent.refer("a") if number else sent.add("a", is_part=False)
        for _ in range(polls):
            sent.begin(frozenset("ab"), is_part=True)


def test_a_browser_waits_longer_than_the_server_counts() -> None:
    assert config.get_option("global.maxCachedMessageAge") == AGE >= 4 * client_cache.RUNS


def test_sessions_do_not_share_what_was_sent_to_them_and_one_that_comes_back_is_sent_all() -> None:
    sessions = [session_of(), session_of()]
    for session in sessions:
        begin(session, frozenset(), [])
    sessions[0].queue = [message("h")]
    client_cache.note_sent(lambda session: session.queue)(sessions[0])
    assert [begin(session, frozenset("h"), []) for session in sessions] == [{"h"}, set()]
    sessions[0].connection = "second"
    assert begin(sessions[0], frozenset("h"), []) == set()


def test_the_client_cache_wraps_streamlits_flush() -> None:
    assert hasattr(ScriptRunner._run_script, "__wrapped__")
    assert hasattr(AppSession.flush_browser_queue, "__wrapped__")
