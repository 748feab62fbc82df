"""A conversation in the address: pages run it, and say in one sentence what is wrong with one."""

import json
import re
from datetime import date
from types import SimpleNamespace

import pytest

from attnviz.app.cache import traces
from attnviz.app.request import Request
from attnviz.kit.wire import unpack
from attnviz.text.chat_link import read_chat
from tests.app.pages.on_screen import notes

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


def test_a_conversation_is_read_anew_on_another_day_for_its_template_may_write_the_date(
    chat_folder, monkeypatch
) -> None:
    asked = request(chat_folder)
    traces.trace(asked)
    assert traces.is_cached(asked)
    monkeypatch.setattr(traces, "date", SimpleNamespace(today=lambda: date(2031, 2, 3)))
    assert not traces.is_cached(asked)


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
        ([["user", "A cat"], ["system", "A dog"]], "only the first turn may be a system turn"),
        ([["user", " "]], "Turn 1 (user) is empty"),
        ([["system", "A cat"]], "has only a system turn"),
        ([["user", "cat " * 700]], "tokens; at most"),
    ],
)
def test_a_conversation_that_cannot_be_run_is_one_sentence(open_page, chat_folder, chat, sentence) -> None:
    app = open_page("heads", model=chat_folder, chat=json.dumps(chat))
    assert not app.exception
    (error,) = app.error
    assert sentence in error.value.replace("\\", "")


@pytest.mark.parametrize("added", [[["assistant", ""]], [["assistant", ""], ["user", " "]]])
def test_an_empty_turn_at_the_end_does_not_take_the_picture_away(open_page, chat_folder, added) -> None:
    app = open_page("heads", model=chat_folder, chat=json.dumps([["user", "A cat"], *added]), new="2")
    assert not app.error
    assert "Turn 2 is empty and is not read yet" in "".join(note.value for note in app.info)
    assert [label for label, _ in areas(app)][:2] == ["1. User", "2. Assistant"]
    count = next(field for field in app.number_input if field.label == "Tokens to write")
    assert "At most 64. The tab Reply of Decoding writes more" in count.help


@pytest.mark.parametrize(
    ("turns", "empty", "other", "read"),
    [
        ([["user", "A cat"], ["assistant", ""], ["user", "A dog"]], 2, 1, ("A dog", "A cat")),
        ([["user", " "], ["assistant", "A cat"], ["user", "A dog"]], 1, 2, ("A dog", "A cat")),
        ([["user", "A dog"], ["assistant", "It"], ["user", ""], ["assistant", "A cat"]], 3, 4, ("A dog", "A cat")),
    ],
    ids=["answer", "first question", "last question"],
)
def test_an_emptied_turn_in_the_middle_is_left_out_with_its_partner(
    open_page, chat_folder, turns, empty, other, read
) -> None:
    app = open_page("heads", model=chat_folder, chat=json.dumps(turns), new="2")
    assert not app.error
    said = "".join(note.value for note in app.info).replace("\\", "")
    assert f"Turn {empty} is empty and is not read yet" in said
    assert f"Turn {other}, which belongs to this turn, is left out, too" in said
    assert [value.strip() for _, value in areas(app)][: len(turns)] == [text.strip() for _, text in turns], (
        "still there"
    )
    (body,) = [part.proto.body for part in app.get("html") if part.proto.body.startswith("<div class='chat-read'>")]
    reading = re.sub("<[^>]+>", "", body)
    assert read[0].replace(" ", "") in re.sub(r"\W", "", reading)
    assert read[1].replace(" ", "") not in re.sub(r"\W", "", reading)


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("{{ raise_exception('no system here') }}", "refuses this conversation (TemplateError: no system here)"),
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "did not finish within"),
        ("x" * 200_001, "chat template has 200,001 characters; at most 200,000 are read"),
    ],
    ids=["refuses", "never ends", "is no template"],
)
def test_a_template_that_fails_is_one_sentence_and_the_turns_stay(
    open_page, tmp_path, monkeypatch, template, sentence
) -> None:
    from tests.models.huggingface.chat import chat_folder

    app = open_page("heads", model=str(chat_folder.save(tmp_path / "odd", template)), chat=CHAT)
    assert not app.exception
    assert sentence in (" ".join(error.value for error in app.error) + notes(app)).replace("\\", "")
    assert (
        json.loads(
            str(app.query_params["chat"][0] if isinstance(app.query_params["chat"], list) else app.query_params["chat"])
        )
        == SAID
    )


@pytest.mark.parametrize("chat", ["nonsense", "[]", '[["cat","dog"]]', '[["user",7]]', "[" * 9_000])
def test_a_text_that_is_no_conversation_is_named_and_the_sentence_is_shown(open_page, chat_folder, chat) -> None:
    app = open_page("heads", model=chat_folder, chat=chat, src="It sleeps on.")
    assert not app.exception
    assert not app.error
    assert "conversation" in notes(app)
    assert app.text_input(key="src-shown").value == "It sleeps on."


def test_a_model_without_a_template_says_so_and_reads_the_question(open_page, folder) -> None:
    for name, says in (("gpt2", "has no chat template"), ("bert", "cannot read a conversation")):
        app = open_page("heads", model=folder(name), chat=CHAT)
        assert not app.exception
        assert not app.error
        assert says in notes(app)
        assert app.text_input(key="src-shown").value == SAID[-1][1]


def areas(app) -> list[tuple[str, str]]:
    """Return the turns in the bar: the label of each, and what stands in it."""
    return [(area.label, area.value) for area in app.text_area if area.key.startswith("chat-")]


def press(app, key: str):
    """Press a button of the bar and run."""
    return app.button(key=key).click().run()


def test_a_typed_text_becomes_the_first_turn_and_nothing_is_lost_on_the_way_back(open_page, chat_folder) -> None:
    app = open_page("heads", model=chat_folder, src="It sleeps on.", new="2")
    assert app.selectbox(key="form-shown").value == "text"
    app.selectbox(key="form-shown").set_value("conversation").run()
    assert areas(app) == [("1. User", "It sleeps on.")]
    (chat,) = app.query_params["chat"] if isinstance(app.query_params["chat"], list) else [app.query_params["chat"]]
    assert json.loads(chat) == [["user", "It sleeps on."]]
    assert "src" not in app.query_params
    press(app, "chat-add-system")
    assert not app.error, "the picture stays"
    assert "Turn 1 is empty and is not read yet" in "".join(note.value for note in app.info).replace("\\", "")
    assert areas(app) == [("1. System", ""), ("2. User", "It sleeps on.")]
    assert app.selectbox(key="form-shown").value == "conversation"  # there is a way back
    app.text_area(key="chat-0-shown").set_value("A cat.").run()
    app.text_area(key="chat-1-shown").set_value("A dog?").run()
    assert not app.exception
    assert not app.error
    app.selectbox(key="form-shown").set_value("text").run()
    assert app.text_input(key="src-shown").value == "A dog?"
    assert "chat" not in app.query_params
    app.text_input(key="src-shown").set_value("A cat?").run()
    app.selectbox(key="form-shown").set_value("conversation").run()
    assert areas(app) == [("1. System", "A cat."), ("2. User", "A cat?")]
    assert not app.exception


def test_turns_alternate_as_they_are_added_and_removed(open_page, chat_folder) -> None:
    app = open_page("heads", model=chat_folder, chat=CHAT, new="2")
    press(app, "chat-add")
    press(app, "chat-add")
    assert [label for label, _ in areas(app)] == ["1. System", "2. User", "3. Assistant", "4. User"]
    for number, text in ((2, "A cat."), (3, "And the dog?")):
        app.text_area(key=f"chat-{number}-shown").set_value(text).run()
    assert not app.error
    press(app, "chat-remove-1")
    assert areas(app) == [("1. System", "The cat sat."), ("2. User", "And the dog?")]
    assert [button.key for button in app.button if button.key.startswith("chat-remove")] == ["chat-remove-0"]
    press(app, "chat-remove-0")
    assert areas(app) == [("1. User", "And the dog?")]
    assert not app.error


def test_what_was_typed_stays_when_it_cannot_be_run(open_page, chat_folder) -> None:
    app = open_page("heads", model=chat_folder, chat=CHAT, new="2")
    app.text_area(key="chat-1-shown").set_value("cat " * 700).run()
    assert not app.exception
    assert "tokens; at most" in app.error[0].value.replace("\\", "")
    assert areas(app)[1] == ("2. User", "cat " * 700)
    app.text_area(key="chat-1-shown").set_value("cat " * 9_000).run()
    assert len(areas(app)[1][1]) == 8_192 - len("The cat sat.")
    app.text_area(key="chat-1-shown").set_value("A cat?").run()
    assert not app.error
    assert "Turn 2: only the first 8,180 of 36,000 characters were read" in notes(app)


def test_no_tokens_are_asked_for_after_an_answer(open_page, chat_folder) -> None:
    app = open_page("heads", model=chat_folder, chat=json.dumps([*SAID, ["assistant", "A cat."]]), new="2")
    assert not app.error
    assert app.number_input(key="new-shown").disabled
    assert not open_page("heads", model=chat_folder, chat=CHAT, new="2").number_input(key="new-shown").disabled


def test_the_text_is_shown_as_the_model_reads_it(open_page, chat_folder) -> None:
    app = open_page("heads", model=chat_folder, chat=CHAT, new="2")
    read = next(str(node.proto.body) for node in app.get("html") if "chat-read" in str(node.proto.body))
    assert read.startswith(
        "<div class='chat-read'><span class='in-template'><span class='token word'>&lt;|im_start|&gt;"
    )
    assert "↵</span><br>" in read
    assert "<span class='said' data-role='user'><b>user</b>" in read
    assert "<b>assistant (written)</b>" in read
