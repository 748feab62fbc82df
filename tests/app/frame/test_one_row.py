"""The One row tab of Heads: the pinned row in every head, as the maps have it."""

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attnviz.app.cache import traces
from attnviz.app.request import Request
from attnviz.kit.wire import Payload, unpack
from attnviz.models import catalogue

pytestmark = pytest.mark.computes

ASKED = {"src": "I love you", "to": "fr", "tgt": "un chien rouge"}


def payload(app: AppTest) -> Payload:
    assert not app.exception, app.exception
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    return unpack(component.proto.bytes)


def strips(app: AppTest) -> torch.Tensor:
    header, blobs = payload(app).header, payload(app).blobs
    numbers = np.frombuffer(blobs, "<f4", int(np.prod(header["shape"])), header["strips"])
    return torch.from_numpy(numbers.copy()).reshape(header["shape"])


@pytest.mark.parametrize(
    ("kind", "done"), [("cross", "off.cross.0.all~off.cross.1.0"), ("decoder_self", ""), ("encoder_self", "")]
)
def test_each_strip_is_the_rows_weights_in_that_head(open_page, kind: str, done: str) -> None:
    open_page("heads", **ASKED, tab="row", kind=kind, row="1")  # which is cached from now on
    app = open_page("heads", **ASKED, tab="row", kind=kind, row="1", do=done)
    entry = next(entry for entry in catalogue.entries() if entry.name == catalogue.DEFAULT)
    trace = traces.trace(Request(entry, **ASKED, do=done))
    assert torch.equal(strips(app), trace.attn(kind)[:, :, 1])
    header = payload(app).header
    assert header["row"] == 1
    assert header["off"][-1:] == ([[1, 0]] if done else [])
    assert header["unseen"] == (list(range(2, strips(app).shape[2])) if kind == "decoder_self" else [])
    assert "cross L1 H0 off" in header["caption"]["model"] or not done


def test_the_first_row_stands_for_none_and_for_one_that_is_not_there(open_page) -> None:
    for row in ("", "99"):
        app = open_page("heads", **ASKED, tab="row", row=row)
        assert payload(app).header["row"] == 0


def test_hidden_special_tokens_have_no_place(open_page) -> None:
    app = open_page("heads", **ASKED, tab="row", kind="cross", row="0", specials="hide", words="1")
    header = payload(app).header
    assert "<eos>" not in header["cols"]
    assert header["left_out"].startswith("special tokens hidden")
    assert strips(app).shape[2] == len(header["cols"])
