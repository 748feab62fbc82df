"""A browser is never referred to a message that it has let go of by the time it reads of it."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from attnviz.ui import streamlit_internals
from attnviz.ui.sending import referred

streamlit_internals.install()
MESSAGES = "abc"
REFUSED = "a message that the browser had let go of"


class Browser:
    """Streamlit's own cache of messages, as its script has it: by hash, with the run that read it last."""

    def __init__(self, age: int) -> None:
        self.age, self.run, self.kept = age, 0, {}

    def read(self, name: str, is_reference: bool) -> None:
        assert name in self.kept or not is_reference, REFUSED
        self.kept[name] = self.run

    def end(self) -> None:
        self.run += 1
        self.kept = {name: run for name, run in self.kept.items() if self.run - run <= self.age}


def played(requests: list[int], drawn: list[str], told: bool, age: int = referred.RUNS) -> None:
    """Runs that draw `drawn`; the browser asked for run i when it had read run `i - requests[i]` to its end.

    `told` says whether the server looks at what it sent, as it does here, or at what the browser named alone.
    """
    browser, sent, named = Browser(age), referred.Sent(), [frozenset[str]()]
    for run, letters in enumerate(drawn):
        asked = named[max(0, run - requests[run])]
        kept = sent.begin(asked) if told else asked
        for name in letters:
            browser.read(name, name in kept)
            sent.add(name)
        browser.end()
        named.append(frozenset(browser.kept))


SCHEDULES = st.lists(st.tuples(st.integers(0, 6), st.sets(st.sampled_from(MESSAGES)).map("".join)), max_size=30)


@given(SCHEDULES)
def test_no_order_of_runs_and_requests_misses(runs) -> None:
    played([behind for behind, _ in runs], [letters for _, letters in runs], told=True)


def test_what_streamlit_itself_does_misses() -> None:
    requests, drawn = [0, 0, 0, 0, 2], ["ab", "b", "b", "b", "a"]
    played(requests, drawn, told=True)
    with pytest.raises(AssertionError, match=REFUSED):
        played(requests, drawn, told=False)


def test_a_message_that_every_run_sends_is_sent_once() -> None:
    sent = referred.Sent()
    for run in range(20):
        assert sent.begin(frozenset("ab" if run else "")) == (frozenset("a") if run else frozenset())
        sent.add("a")


def test_a_browser_waits_longer_than_the_server_counts() -> None:
    assert config.get_option("global.maxCachedMessageAge") >= 4 * referred.RUNS


def test_sessions_do_not_share_what_was_sent_to_them() -> None:
    queues: list[list[ForwardMsg]] = [[], []]
    contexts = [SimpleNamespace(pages_manager=type("Pages", (), {})(), enqueue=queue.append) for queue in queues]
    begun = referred.still_kept(lambda context, cached_message_hashes: context.begun.append(cached_message_hashes))
    enqueue = referred.noted(lambda context, message: context.enqueue(message))
    message = ForwardMsg(hash="h")
    message.metadata.cacheable = True
    for context in contexts:
        context.begun = []
        begun(context, cached_message_hashes=frozenset("h"))
    enqueue(contexts[0], message)
    for context in contexts:
        begun(context, cached_message_hashes=frozenset("h"))
    assert [context.begun[-1] for context in contexts] == [{"h"}, set()]


def test_it_is_set_into_streamlits_runs() -> None:
    assert hasattr(ScriptRunContext.reset, "__wrapped__")
    assert hasattr(ScriptRunContext.enqueue, "__wrapped__")
