"""The tab Reply: what is written, what a link gives again, and what is said of an input that cannot be answered."""

import json
from math import inf
from urllib.parse import parse_qs

import pytest

from attnviz.app.cache import traces
from attnviz.decoding.reply.numbers.reply import GREEDY, Choosing, start_reply
from attnviz.decoding.reply.page import held
from attnviz.kit.wire import unpack
from attnviz.text.chat_link import read_chat
from tests.app.pages.on_screen import notes

pytestmark = pytest.mark.computes

SAID = [["system", "The cat sat."], ["user", "The dog looked at the cat"]]
CHAT = json.dumps(SAID)


@pytest.fixture(autouse=True)
def _each_message_has_the_whole_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each message bring the reply from its first token; else it brings what was written in the last 0.3 seconds,
    which is less on a slow machine.
    """
    monkeypatch.setattr(held, "_OVERLAP", inf)


def message(app) -> dict:
    """Return the header of the last message to the component."""
    found = [unpack(part.proto.bytes).header for part in app.get("bidi_component") if part.proto.bytes]
    return next(header for header in reversed(found) if "alternatives" in header)


def go(app):
    return app.button(key="reply-go").click().run()


def ids(app) -> list[int]:
    """Return the ids of the reply's tokens."""
    found = message(app)
    assert found["since"] == 0
    return [entry[1] for _, _, _, entry in found["tokens"][found["prompt"] :]]


def expected(folder: str, count: int, choosing: Choosing = GREEDY, **asked) -> list[int]:
    messages = [turn.as_message for turn in read_chat(CHAT)]
    reply = start_reply(traces.model(folder), messages, choosing=choosing, **asked)
    return [each.token.id for each in reply.go_on(count)]


def open_reply(open_page, folder: str, **params: str):
    return open_page("decoding", model=folder, chat=CHAT, tab="reply", **params)


def test_nothing_is_written_until_it_is_asked_for(open_page, chat_folder) -> None:
    app = open_reply(open_page, chat_folder)
    assert not app.exception
    assert not app.error
    assert app.button(key="reply-go").label == "Write"
    found = message(app)
    assert len(found["tokens"]) == found["prompt"]
    assert [span["role"] for span in found["spans"]] == ["system", "user"]
    assert found["shape"] == [3, 6]


def test_a_reply_is_written_up_to_its_limit_and_says_why_it_ended(open_page, chat_folder) -> None:
    app = go(open_reply(open_page, chat_folder, limit="9"))
    assert not app.exception
    found = message(app)
    written = len(found["alternatives"])
    assert found["ended"] == "The reply stopped because it reached the limit of 9 tokens."
    assert not found["writing"]
    assert app.button(key="reply-go").disabled
    assert app.query_params["written"] == "9"
    assert found["rows"] <= found["prompt"] + written - 1
    assert ids(open_reply(open_page, chat_folder, limit="9", written="9")) == expected(chat_folder, 9)


def test_a_step_writes_one_token_and_going_on_the_rest(open_page, chat_folder) -> None:
    app = open_reply(open_page, chat_folder, limit="6")
    app.button(key="reply-step").click().run()
    assert app.query_params["written"] == "1"
    assert app.button(key="reply-go").label == "Go on"
    assert go(app).query_params["written"] == "6"


def test_a_link_gives_the_same_reply_again(open_page, chat_folder) -> None:
    sampled = {"choose": "sampled", "temperature": "2.0", "top_p": "0.9", "seed": "5"}
    app = open_reply(open_page, chat_folder, limit="12", written="12", taken="3:9,20:4", **sampled)
    assert not app.exception
    choosing = Choosing(2.0, 0.9, 5)
    assert ids(app) == expected(chat_folder, 12, choosing, taken={3: 9})
    assert ids(app)[3] == 9
    assert message(app)["taken"][3] is True
    assert "3:9" in app.query_params["taken"]


def test_another_seed_writes_as_many_tokens_anew_and_forgets_choices_by_hand(open_page, chat_folder) -> None:
    asked = {"choose": "sampled", "temperature": "2.0", "limit": "12", "written": "8", "taken": "3:9"}
    app = open_reply(open_page, chat_folder, **asked)
    app.number_input(key="seed").set_value(4).run()
    assert not app.exception
    assert "taken" not in app.query_params
    assert app.query_params["written"] == "8"
    assert message(app)["key"]
    reopened = open_reply(open_page, chat_folder, **{**asked, "seed": "4", "taken": ""})
    assert ids(reopened) == expected(chat_folder, 8, Choosing(2.0, None, 4))


def test_two_visitors_write_replies_of_their_own(open_page, chat_folder) -> None:
    one, other = (open_reply(open_page, chat_folder, limit=limit) for limit in ("5", "7"))
    go(one)
    go(other)
    assert one.query_params["written"] == "5"
    assert other.query_params["written"] == "7"
    assert message(one)["key"] != message(other)["key"]


def test_a_plain_text_is_answered_too_and_opens_on_heads_with_the_reply(open_page, chat_folder) -> None:
    app = open_page("decoding", model=chat_folder, src="The dog looked at", tab="reply", written="12")
    assert not app.exception
    link = next(part.proto for part in app.get("page_link") if part.proto.label == "Look at it on Heads")
    text = parse_qs(link.query_string)["src"][0]
    assert text.startswith("The dog looked at")
    assert len(text) > len("The dog looked at")


def test_a_reply_to_a_conversation_opens_on_heads_as_the_assistants_turn(open_page, chat_folder) -> None:
    app = open_reply(open_page, chat_folder, written="6")
    link = next(part.proto for part in app.get("page_link") if part.proto.label == "Look at it on Heads")
    turns = json.loads(parse_qs(link.query_string)["chat"][0])
    assert turns[:-1] == SAID
    assert turns[-1][0] == "assistant"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"taken": "three"}, "chosen tokens are given as position:id"),
        ({"limit": "0"}, "limit “0”, but it is a number from 1 to 1000"),
        ({"temperature": "99", "choose": "sampled"}, "temperature “99”, but it is a number from 0.1 to 3"),
        ({"written": "-1"}, "written “-1”, but it is a number from 0 to 1000"),
        ({"layer": "9"}, "layer “9”, but this model has layers 0 to 2"),
    ],
)
def test_a_link_that_asks_wrongly_is_told_so_and_drawn_all_the_same(open_page, chat_folder, params, words) -> None:
    app = open_reply(open_page, chat_folder, **params)
    assert not app.exception
    assert words in notes(app)
    assert message(app)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"chat": json.dumps([*SAID, ["assistant", "A cat."]])}, "end with a user turn"),
        ({"chat": CHAT, "taken": "0:999999"}, "There is no token 999999"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(open_page, chat_folder, params, words) -> None:
    app = open_page("decoding", model=chat_folder, tab="reply", **params)
    assert not app.exception
    assert words in "".join(error.value for error in app.error)


def test_a_translator_writes_no_reply_and_says_so(open_page) -> None:
    app = open_page("decoding", src="I love you.", to="fr")
    assert "Reply" not in str([group.options for group in app.button_group]), "a tab that could show nothing"
    app = open_page("decoding", src="I love you.", to="fr", tab="reply")
    assert not app.exception
    said = "This model only translates. For replies, open a chat model: Model → Another model …"
    assert [error.value.replace("\\", "") for error in app.error] == [said]
    next(button for button in app.button if button.label == "Another model …").click().run()
    assert [field.label for field in app.text_input if "hub id" in field.label]


def test_the_link_to_heads_opens_it_on_the_whole_conversation(open_page, chat_folder) -> None:
    app = open_reply(open_page, chat_folder, written="6")
    link = next(part.proto for part in app.get("page_link") if part.proto.label == "Look at it on Heads")
    there = {name: texts[0] for name, texts in parse_qs(link.query_string).items()}
    heads = open_page("heads", **there)
    assert not heads.exception
    assert not heads.error


def chat_of(app) -> list[list[str]]:
    """Read the conversation that the address has."""
    found = app.query_params["chat"]
    return json.loads(found[0] if isinstance(found, list) else found)


def test_the_next_question_follows_the_answer(open_page, chat_folder) -> None:
    app = go(open_reply(open_page, chat_folder, limit="4"))
    app.text_input(key="reply-next-question").set_value("Who sat?").run()
    assert not app.exception
    assert not app.error
    turns = chat_of(app)
    assert [role for role, _ in turns] == ["system", "user", "assistant", "user"]
    assert turns[2][1].strip()
    assert turns[3][1] == "Who sat?"
    assert app.button(key="reply-go").label == "Write", "another answer is to be written"
    assert "written" not in app.query_params


def test_a_turn_of_the_assistant_that_is_added_begins_with_the_reply(open_page, chat_folder) -> None:
    app = go(open_reply(open_page, chat_folder, limit="4"))
    app.button(key="chat-add").click().run()
    assert not app.exception
    turns = chat_of(app)
    assert turns[-1][0] == "assistant"
    assert turns[-1][1].strip()
