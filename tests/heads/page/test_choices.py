"""A choice in the picture of Heads: what the server runs for it, and what the page then says elsewhere."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.testing.v1 import AppTest

import attnviz
from tests.heads.page.test_heads import header

PACKAGE = Path(attnviz.__file__).parent
LINK = {"src": "I love you", "to": "fr", "kind": "cross", "layer": "0", "head": "0"}
WHOLE_PAGE, MAKING = "app/frame/top_bar.py", "heads/payload.py"


@contextmanager
def files_that_run() -> Iterator[set[str]]:
    """Collect our files of which any function runs in a thread that begins meanwhile."""
    found: set[str] = set()

    def note(frame, event, _given) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(f"{PACKAGE}/"):
            found.add(path.removeprefix(f"{PACKAGE}/"))

    threading.setprofile(note)
    try:
        yield found
    finally:
        threading.setprofile(None)
        sys.setprofile(None)


def choose(app: AppTest, monkeypatch: pytest.MonkeyPatch, **view) -> set[str]:
    """Report a view as the picture's component does, from its fragment; return our files that ran for it."""
    (component,) = [part.proto for part in app.get("bidi_component") if part.proto.bytes]
    told = {**header(app)["view"], **view, "seq": header(app)["view"]["seq"] + 1}
    states = app._tree.get_widget_states()
    states.widgets.append(WidgetState(id=component.id, json_value=json.dumps({"view": told})))
    (fragment,) = app._fragment_storage._fragments
    run = ScriptRunner._run_script
    with monkeypatch.context() as patch, files_that_run() as files:
        patch.setattr(
            ScriptRunner, "_run_script", lambda one, asked: run(one, replace(asked, fragment_id_queue=[fragment]))
        )
        app._run(states)
    assert not app.exception
    return files


def query(app: AppTest) -> dict[str, str]:
    """Return the query of the link to copy."""
    (link,) = [part.proto.json for part in app.get("bidi_component") if part.proto.json.startswith('{"query"')]
    return dict(parse_qsl(json.loads(link)["query"]))


def test_another_head_runs_no_more_than_reading_it_and_writing_it_into_the_address(open_page, monkeypatch) -> None:
    app = open_page("heads", **LINK)
    (before,) = [part.proto.bytes for part in app.get("bidi_component") if part.proto.bytes]
    for head in (1, 2):
        files = choose(app, monkeypatch, layer=1, head=head)
        assert not files & {WHOLE_PAGE, MAKING}
        assert len(files) <= 30, sorted(files)
        assert (app.query_params["layer"], app.query_params["head"]) == ("1", str(head))
        assert (query(app)["layer"], query(app)["head"]) == ("1", str(head)), "the link to copy follows"
        (now,) = [part.proto.bytes for part in app.get("bidi_component") if part.proto.bytes]
        assert now == before, "nothing is sent again"


def test_what_was_chosen_stays_when_the_page_runs_next(open_page, monkeypatch) -> None:
    app = open_page("heads", **LINK)
    choose(app, monkeypatch, layer=1, head=2, sort="entropy")
    told = query(app.run())
    assert (told["layer"], told["head"], told["sort"]) == ("1", "2", "entropy")


@pytest.mark.parametrize(
    ("more", "chosen"),
    [
        ({}, {"kind": "encoder_self"}),  # whose controls stand beside the tabs
        ({}, {"specials": "hide"}),  # which has to be computed
        ({}, {"off": [["cross", 0, 1]]}),  # which is another run of the model
        ({"layer": "99"}, {"head": 1}),  # where a note above the picture may be out of date
    ],
)
def test_a_choice_that_the_rest_of_the_page_shows_runs_the_page(open_page, monkeypatch, more, chosen) -> None:
    app = open_page("heads", **LINK | more)
    assert WHOLE_PAGE in choose(app, monkeypatch, **chosen)


def test_each_choice_runs_the_page_beside_a_lesson_which_may_watch_it(open_page) -> None:
    assert not open_page("heads", **LINK, lesson="look")._fragment_storage._fragments


def test_what_the_browser_cannot_paint_by_itself_is_made_without_the_page(open_page, monkeypatch) -> None:
    app = open_page("heads", **LINK, table="1")
    files = choose(app, monkeypatch, layer=1, head=2)
    assert MAKING in files
    assert WHOLE_PAGE not in files
    assert len(app.dataframe) == 1, "the table of the head that was chosen"
