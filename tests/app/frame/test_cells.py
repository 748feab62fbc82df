"""The cells of the Heads tab hold weights, norms or shares: made when asked for, as the analysis has them."""

import numpy as np
import pytest
import torch

from attnviz.analysis.mixing import norms, shares_of_heads
from attnviz.analysis.output_maps import output_maps
from attnviz.analysis.residual import residual_maps
from attnviz.app.cache import traces
from attnviz.app.request import Request
from attnviz.kit.wire import unpack
from attnviz.models import catalogue
from attnviz.transformer.probe import Site
from tests.decoding.page.decoding_page import header

ASKED = {"src": "I love you", "to": "fr"}


def drawn_numbers(app, kind: str) -> torch.Tensor:
    """Every head's numbers of a kind, as the browser gets them."""
    assert not app.exception, app.exception
    (component,) = [part for part in app.get("bidi_component") if part.proto.bytes]
    payload = unpack(component.proto.bytes)
    told = header(app)
    shape = next(each["shape"] for each in told["kinds"] if each["kind"] == kind)
    offset = next(each["offset"] for each in told["exact"] if each["kind"] == kind and "layer" not in each)
    return torch.from_numpy(np.frombuffer(payload.blobs, "<f4", int(np.prod(shape)), offset).copy()).reshape(shape)


@pytest.mark.parametrize("done", ["", "off.cross.1.1"])
@pytest.mark.parametrize("measure", ["norm", "share"])
def test_cells_are_what_the_analysis_says(open_page, measure: str, done: str) -> None:
    app = open_page("heads", **ASKED, kind="cross", cells=measure, do=done)
    entry = next(entry for entry in catalogue.entries() if entry.name == catalogue.DEFAULT)
    model, trace = traces.model(entry.name), traces.trace(Request(entry, **ASKED, do=done))
    site = Site("cross", 1)
    if measure == "norm":
        expected = norms(output_maps(model, trace)[site], trace, site)
    else:
        expected = shares_of_heads(residual_maps(model, trace), trace, site)
    assert header(app)["cells"] == {"measure": measure, "why": ""}
    assert torch.allclose(drawn_numbers(app, "cross")[1], expected, atol=1e-6)


def test_weights_are_sent_alone_until_something_else_is_asked_for(open_page) -> None:
    app = open_page("heads", **ASKED)
    assert header(app)["cells"] == {"measure": "weight", "why": ""}
    assert len(header(app)["exact"]) == 3  # every kind
    app = open_page("heads", **ASKED, kind="cross", cells="norm", pins="encoder_self.0.0")
    assert [each["kind"] for each in header(app)["exact"]] == ["cross", "encoder_self"]


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_a_model_says_why_it_has_no_shares(open_page, folder, name: str) -> None:
    model = folder(name)
    app = open_page("heads", src="A big dog sleeps", model=model, cells="norm")
    assert header(app)["cells"]["measure"] == "norm"
    app = open_page("heads", src="A big dog sleeps", model=model, cells="share")
    assert (header(app)["cells"]["measure"] == "share") == (name == "gpt2")
    assert ("no exact split over layers" in header(app)["cells"]["why"]) == (name == "bert")


def test_table_and_words_follow_the_cells(open_page) -> None:
    app = open_page("heads", **ASKED, kind="cross", layer="1", head="0", cells="norm", table="1", words="1")
    (table,) = [frame.value for frame in app.dataframe if "key" in frame.value]
    assert "norm" in table
    assert "weight" not in table
    assert table["norm"].to_numpy().max() == pytest.approx(float(drawn_numbers(app, "cross")[1, 0].max()), rel=1e-5)
