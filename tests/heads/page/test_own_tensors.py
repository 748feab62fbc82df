"""A visitor's file goes with the visitor: neither its weights nor what was made of them are kept for the server."""

import gc
import io
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from streamlit.runtime.caching import cache_resource_api
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

from attnviz.app import streamlit_internals
from attnviz.app.cache import pictures
from attnviz.app.cache.pictures import Room
from attnviz.heads.links import links
from attnviz.tracing.external import file as external_file

SESSION = "test session id"  # what Streamlit calls the session of a page under test


@pytest.fixture(autouse=True)
def _a_new_visitor() -> None:
    """Clear the kept files of the test before, whose session has the same name."""
    cache_resource_api.clear_session_cache(SESSION)


@pytest.fixture
def counted_calls(monkeypatch) -> list[str]:
    """Count by name what is read and made."""
    done: list[str] = []
    for module, name in ((external_file, "read"), (links, "links_payload")):
        make = getattr(module, name)

        def record(*args, _make=make, _name=name, **options):
            done.append(_name)
            return _make(*args, **options)

        monkeypatch.setattr(module, name, record)
    return done


def test_what_a_visitor_hands_in_is_gone_when_they_are(open_page, counted_calls) -> None:
    page = open_page("heads", tab="links")
    counted_calls.clear()
    app = upload(page)
    assert counted_calls == ["read", "links_payload"]
    app.run()
    assert counted_calls == ["read", "links_payload"], "as long as they stay, it is kept"
    cache_resource_api.clear_session_cache(SESSION)
    app.run()
    assert counted_calls == ["read", "links_payload"] * 2


def test_what_a_model_made_is_kept_for_all(open_page, counted_calls) -> None:
    pictures._made.forget(lambda name: True)
    app = open_page("heads", tab="links")
    cache_resource_api.clear_session_cache(SESSION)
    app.run()
    assert counted_calls == ["links_payload"]


def test_a_visitor_who_finds_the_room_full_is_told_so_and_keeps_what_was_typed(open_page, monkeypatch) -> None:
    monkeypatch.setattr(pictures, "ROOM", Room(50))
    app = upload(open_page("heads", src="I love you."))
    assert not app.exception
    (error,) = app.error
    assert "The server has no memory left for own.npz" in error.value.replace("\\", "")
    assert any(field.value == "I love you." for field in app.text_input)


def test_what_is_made_of_them_takes_room_and_is_shown_where_there_is_none(
    open_page, counted_calls, monkeypatch
) -> None:
    page = open_page("heads", tab="links")
    counted_calls.clear()
    monkeypatch.setattr(pictures, "ROOM", roomy := Room(1 << 20))
    app = upload(page)
    both = roomy.taken_bytes
    cache_resource_api.clear_session_cache(SESSION)
    gc.collect()
    assert roomy.taken_bytes == 0
    monkeypatch.setattr(pictures, "ROOM", tight := Room(both - 1))
    app.run()
    assert 0 < tight.taken_bytes < both, "the weights are kept, and what was made of them is not"
    assert not app.exception
    assert not app.error
    app.run()
    assert counted_calls == ["read", "links_payload", "read", "links_payload", "links_payload"]


def test_a_table_and_maps_of_a_long_text_are_counted_as_what_they_hold() -> None:
    spread = torch.zeros(1).expand(1000, 1000)  # four bytes
    assert pictures.size((spread, [torch.zeros(10)], {"bytes": b""})) == 4 + 40 + sys.getsizeof(b"")
    assert pictures.size(pd.DataFrame({"entropy": np.zeros(1000)})) > 8000


def test_files_of_all_visitors_together_have_one_limit(monkeypatch) -> None:
    streamlit_internals.install()
    monkeypatch.setattr(streamlit_internals, "MOST_UPLOADED", 100)
    files = MemoryUploadedFileManager("/upload")
    for session, name in (("a", "1"), ("a", "2"), ("b", "3")):
        files.add_file(session, UploadedFileRec(name, "own.npz", "", bytes(60)))
    assert not files.get_files("a", ["1"]), "a visitor's newer file takes the place of the older"
    assert [file.data for file in files.get_files("a", ["2"])] == [bytes(60)]
    assert [(file.type, file.data) for file in files.get_files("b", ["3"])] == [(streamlit_internals.NO_ROOM, b"")]


def upload(app: AppTest) -> AppTest:
    attn = np.random.default_rng(7).dirichlet(np.ones(3), (2, 3)).astype(np.float32)
    file = io.BytesIO()
    np.savez(file, attn=attn, tokens=np.array(["a", "b", "c"]))
    return app.file_uploader(key="own-file").upload("own.npz", file.getvalue()).run()
