"""Files handed in over HTTP, to a real server with little room: a sentence on the page, and nothing typed is lost."""

import io
import re
from collections.abc import Iterator

import numpy as np
import pytest

from tests.browser import server
from tests.websocket.upload import upload
from tests.websocket.visitor import Shown, Visitor

SENTENCE = {"src": "I love you."}
# 64 MB a file become 1 MB, and the room for all files 40,000 bytes.
SMALL = "from attnviz.app import streamlit_internals; streamlit_internals.MOST_UPLOADED = 40_000"
FULL = "The server has no memory left for second.npz, because the files of other visitors use all of it."


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("uploads") / "dashboard.log"
    said = {"STREAMLIT_SERVER_MAX_UPLOAD_SIZE": "1", "OMP_WAIT_POLICY": "passive"}
    with server.dashboard(log, said, first=SMALL) as address:
        yield address
    assert "Traceback (most recent call last)" not in log.read_text(encoding="utf-8")


def test_an_upload_without_room_is_refused_until_another_visitor_frees_some(address) -> None:
    with Visitor(address) as first, Visitor(address) as second:
        assert shown_file(upload_own(first, address, "first.npz")) == "first.npz"
        shown = upload_own(second, address, "second.npz")
        assert sum(FULL in alert for alert in shown.alerts) == 1
        assert not shown.exceptions
        assert not shown_file(shown)
        assert value_of(second) == "I love you."
        assert shown_file(upload_own(first, address, "smaller.npz", tokens=5)) == "smaller.npz"
        assert shown_file(upload_own(second, address, "second.npz")) == "second.npz"


@pytest.mark.parametrize("says", [True, False], ids=["its length is said", "its length is not said"])
def test_a_file_that_is_too_large_is_not_taken_and_the_page_stays_as_it_is(address, says) -> None:
    with Visitor(address) as visitor:
        visitor.open("heads", SENTENCE)
        status, info = upload(visitor, address, "large.npz", bytes(3 << 20), says=says)
        assert status == 413
        shown = visitor.send(visitor.state("own-file", file_uploader_state_value=[info]))
        assert not shown.exceptions
        assert not shown_file(shown)
        assert value_of(visitor) == "I love you."


def upload_own(visitor: Visitor, address: str, name: str, tokens: int = 20) -> Shown:
    """Hand in a file on the Heads page, and return what it then shows."""
    visitor.open("heads", SENTENCE)
    status, info = upload(visitor, address, name, weights(tokens))
    assert status == 204
    return visitor.send(visitor.state("own-file", file_uploader_state_value=[info]))


def value_of(visitor: Visitor) -> str:
    """Read the sentence's field."""
    field = visitor.shown.widgets["src-shown"][1]
    return field.value if field.set_value else field.default


def shown_file(shown: Shown) -> str:
    """Read which file's weights a page says it shows; "" for the sentence's."""
    said = (re.search(r"your own tensors from (\S+),", alert) for alert in shown.alerts)
    return next((found[1] for found in said if found), "")


def weights(tokens: int = 20) -> bytes:
    """Make a file; of 20 tokens it has some 27,000 bytes, and two do not fit into the room."""
    attn = np.random.default_rng(7).dirichlet(np.ones(tokens), (4, 4, tokens)).astype(np.float32)
    file = io.BytesIO()
    np.savez(file, attn=attn, tokens=np.array([f"token {at}" for at in range(tokens)]))
    return file.getvalue()
