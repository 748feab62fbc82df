"""A step whose link carries a conversation is run as the page runs it, and drawn for a folder of plain files."""

import json

import pytest

from attnviz.lessons.folder.drawn import draw
from attnviz.lessons.lesson import Link
from attnviz.lessons.page import run
from attnviz.lessons.picture import pictures
from attnviz.text.chat_link import question, with_question
from attnviz.text.limits import TextError
from tests.each_case import each_case

CHAT = json.dumps([["system", "The cat sat."], ["user", "It sleeps on."]])


def link(folder: str, page: str = "Heads", **texts: str) -> Link:
    return Link(page, {"model": folder, "chat": CHAT, "new": "2"} | texts)


def test_a_steps_conversation_is_run(chat_folder) -> None:
    shown = pictures()(link(chat_folder))
    assert [span.role for span in shown.trace.sentences[0].spans] == ["system", "user", "assistant"]


def test_the_page_and_the_step_share_one_run(chat_folder) -> None:
    asked = run.request(link(chat_folder, src="left over"))
    assert (asked.src, asked.text) == ("", "It sleeps on.")
    assert run.request(Link("Heads", asked.to_params())) == asked


def test_a_conversation_that_is_none_is_one_sentence(chat_folder, tmp_path) -> None:
    with pytest.raises(TextError, match="is not JSON"):
        pictures()(link(chat_folder, chat="nonsense"))
    with pytest.raises(TextError, match="is empty"):
        run.request(link(chat_folder, chat='[["user",""]]'))


@each_case(
    ("page", "more"),
    [
        ("Heads", {}),
        ("Decoding", {}),
        ("Causes", {"tab": "patch", "changed": "It sleeps there."}),
        ("Causes", {"tab": "compare", "by": "sentence", "other": "A dog?"}),
    ],
)
def test_a_step_is_drawn_for_a_folder_of_files(chat_folder, page, more) -> None:
    run_link, asked = pictures(), link(chat_folder, page, **more)
    assert draw(asked, run_link(asked), None, str, run=run_link).widget


def test_a_step_asks_another_question_in_the_same_conversation(chat_folder) -> None:
    texts = link(chat_folder).texts
    assert question(texts) == "It sleeps on."
    assert json.loads(with_question(texts, "A dog?")["chat"]) == [["system", "The cat sat."], ["user", "A dog?"]]
    assert with_question({"src": "A cat"}, "A dog") == {"src": "A dog"}
