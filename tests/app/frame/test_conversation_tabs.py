"""Every tab of every page runs a conversation."""

import json

import pytest

from attnviz.anatomy.implementations.page import state as implementations
from attnviz.anatomy.page import experiment as anatomy
from attnviz.causes.page import state as causes
from attnviz.heads.page import tabs as heads
from attnviz.masks.page import controls as masks

CHAT = json.dumps([["system", "The cat sat."], ["user", "The dog looked at the cat"]])
TABS = {
    "heads": heads.titles(),
    "masks": masks.TABS,
    "causes": causes.TABS,
    "anatomy": anatomy.TABS,
    "implementations": implementations.TABS,
}


@pytest.mark.parametrize(("page", "tab"), [(page, tab) for page, tabs in TABS.items() for tab in tabs])
def test_a_tab_runs_a_conversation(open_page, chat_folder, page, tab) -> None:
    app = open_page(page, model=chat_folder, chat=CHAT, new="3", tab=tab)
    assert not app.exception
    assert not app.error, [error.value for error in app.error]


@pytest.mark.parametrize("more", [{"by": "sentence", "other": "A dog?"}, {"by": "model"}, {"by": "mask"}])
def test_a_conversation_is_compared(open_page, chat_folder, more) -> None:
    app = open_page("causes", model=chat_folder, chat=CHAT, new="2", tab="compare", **more)
    assert not app.exception
    assert not app.error


def test_another_question_is_patched_into_a_conversation(open_page, chat_folder) -> None:
    changed = "The cat looked at the dog"
    app = open_page("causes", model=chat_folder, chat=CHAT, tab="patch", changed=changed)
    assert not app.exception
    assert not app.error
    assert any(part.proto.bytes for part in app.get("bidi_component"))


@pytest.mark.parametrize("way", ["cached", "recomputed", "teacher"])
def test_decoding_steps_through_a_conversation(open_page, chat_folder, way) -> None:
    app = open_page("decoding", model=chat_folder, chat=CHAT, new="2", way=way)
    assert not app.exception
    assert not app.error
    assert "data-verdict='equal'" in "".join(str(node.proto.body) for node in app.get("html"))
