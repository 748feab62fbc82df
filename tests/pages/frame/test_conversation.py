"""A conversation in the address: pages run it, and say in one sentence what is wrong with one."""

import json

import pytest

from attnviz.text.chat_link import read_chat
from attnviz.ui.cache import traces
from attnviz.ui.request import Request
from attnviz.widgets.wire import unpack
from tests.pages.on_screen import notes

SAID = [["system", "The cat sat."], ["user", "The dog looked at the cat"]]
CHAT = json.dumps(SAID)
PAGES = ("", "heads", "masks", "decoding", "causes", "anatomy", "implementations")


def shown(app) -> dict:
    """Return the header of the picture on a page."""
    return next(unpack(part.proto.bytes).header for part in app.get("bidi_component") if part.proto.bytes)


def request(name: str, **asked) -> Request:
    """Make the bar's request of a conversation."""
    from attnviz.models.catalogue import unshipped_entry

    return Request(unshipped_entry(name), "", new=3, messages=read_chat(CHAT), **asked)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_a_conversation(open_page, chat_folder, page) -> None:
    app = open_page(page, model=chat_folder, chat=CHAT, new="3")
    assert not app.exception
    assert not app.error


def test_heads_shows_the_tokens_of_the_template_and_of_each_turn(open_page, chat_folder) -> None:
    app = open_page("heads", model=chat_folder, chat=CHAT, new="3")
    assert not app.exception
    asked = request(chat_folder)
    trace = traces.attention(asked)
    assert [span.name for span in trace.sentences[0].spans] == ["system", "user", "assistant"]
    assert trace.sentences[0].tgt[0].text == "<|im_start|>"
    assert len(trace.sentences[0].tgt) - trace.sentences[0].spans[-1].start == 3


def test_a_conversation_is_run_with_the_changes_of_the_address(open_page, chat_folder) -> None:
    off = "off.dec.0.1"
    assert not open_page("heads", model=chat_folder, chat=CHAT, new="3", do=off).error
    changed, plain = traces.trace(request(chat_folder, do=off)), traces.trace(request(chat_folder))
    assert changed.interventions
    assert changed.sentences[0].spans[:2] == plain.sentences[0].spans[:2]
    assert not changed.attn("decoder_self").equal(plain.attn("decoder_self"))


def test_a_link_carries_the_conversation_and_no_sentence_beside_it(chat_folder) -> None:
    asked = request(chat_folder).to_params()
    assert json.loads(asked["chat"]) == SAID
    assert "src" not in asked


def test_a_conversation_that_has_been_answered_gets_no_second_reply(chat_folder) -> None:
    from dataclasses import replace

    answered = read_chat(json.dumps([*SAID, ["assistant", "A cat."]]))
    trace = traces.trace(replace(request(chat_folder), messages=answered))
    assert [span.role for span in trace.sentences[0].spans] == ["system", "user", "assistant"]
    assert trace.sentences[0].spans[-1].end < len(trace.sentences[0].tgt)


@pytest.mark.parametrize(
    ("chat", "sentence"),
    [
        ([["user", "A cat"], ["user", "A dog"]], "Turn 2 is the user's, where the assistant's is expected"),
        ([["user", "A cat"], ["system", "A dog"]], "only the first turn can be one"),
        ([["user", " "]], "Turn 1 (user) is empty"),
        ([["system", "A cat"]], "has only a system turn"),
        ([["user", "cat " * 900]], "tokens; at most"),
    ],
)
def test_a_conversation_that_cannot_be_run_is_one_sentence(open_page, chat_folder, chat, sentence) -> None:
    app = open_page("heads", model=chat_folder, chat=json.dumps(chat))
    assert not app.exception
    (error,) = app.error
    assert sentence in error.value.replace("\\", "")


@pytest.mark.parametrize("chat", ["nonsense", "[]", '[["cat","dog"]]', '[["user",7]]', "[" * 9_000])
def test_a_text_that_is_no_conversation_is_named_and_the_sentence_is_shown(open_page, chat_folder, chat) -> None:
    app = open_page("heads", model=chat_folder, chat=chat, src="It sleeps on.")
    assert not app.exception
    assert not app.error
    assert "conversation" in notes(app)
    assert app.text_input(key="src-shown").value == "It sleeps on."


def test_a_model_without_a_template_says_so_and_reads_the_question(open_page, folder) -> None:
    for name, says in (("gpt2", "has no chat template"), ("bert", "takes no conversation")):
        app = open_page("heads", model=folder(name), chat=CHAT)
        assert not app.exception
        assert not app.error
        assert says in notes(app)
        assert app.text_input(key="src-shown").value == SAID[-1][1]
