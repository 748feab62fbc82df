"""Python reads the view of a cell, and the cell gets the view that Python sets; no browser here."""

import sys
import tracemalloc
from typing import Any

import pytest
import torch
import traitlets

import attnviz
from attnviz.heads import heads
from attnviz.hosts.notebook.widget import PictureWidget
from attnviz.hosts.registry import PICTURES
from attnviz.kit.wire import unpack
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case


@pytest.fixture(scope="module")
def model():
    return tiny_translator(seed=0, n_heads=3, n_layers=2)


@pytest.fixture(scope="module")
def trace(model):
    return model.trace("machine learning is fun.", to="fr")


def report(widget: PictureWidget, **choice: Any) -> None:
    """Let the browser report its whole view with another choice, as hosts/notebook.js does."""
    seen = {**unpack(widget._payload).header["view"], **widget._told}
    widget.set_state({"_told": {**seen, **choice, "seq": seen["seq"] + 1}})


def test_a_picture_opens_with_what_is_asked(trace) -> None:
    widget = attnviz.show(trace, kind="cross", layer=1, head=2, row=3, pins=[("cross", 0, 1)], theme="dark", height=700)
    assert (widget.head, widget.row, widget.pins) == (("cross", 1, 2), 3, (("cross", 0, 1),))
    assert (widget.theme, widget.height) == ("dark", 700)
    assert unpack(widget._payload).header["view"] == widget.view | {"seq": 0}


def test_a_choice_in_the_browser_is_read_and_heard_once(trace) -> None:
    widget, heard = attnviz.show(trace), []
    widget.observe(lambda change: heard.append(change.new["head"]), "view")
    sent = widget._payload
    report(widget, head=2, row=1)
    assert (widget.head[2], widget.row, heard) == (2, 1, [2])
    assert widget._payload is sent  # the browser has the numbers of every head


def test_what_python_sets_is_told_to_the_browser_beside_its_newest_choice(trace) -> None:
    widget = attnviz.show(trace)
    report(widget, row=1)
    widget.head = ("encoder_self", 1, 0)
    widget.pins = [("cross", 1, "mean")]
    told = {"kind": "encoder_self", "layer": 1, "head": 0, "row": 1, "pins": [["cross", 1, "mean"]], "seq": 1}
    assert told.items() <= widget._told.items()


def test_a_part_of_a_view_leaves_the_rest_as_it_is(trace) -> None:
    widget = attnviz.show(trace, layer=1, row=2)
    widget.view = {"scale": "max"}
    assert (widget.view["scale"], widget.head[1], widget.row) == ("max", 1, 2)


def test_numbers_that_only_python_has_are_sent_with_the_choice_that_asked_for_them(trace) -> None:
    widget = attnviz.show(trace)
    report(widget, specials="hide")
    sent = unpack(widget._payload + widget._blobs)
    assert sent.blobs == attnviz.show(trace, specials="hide")._drawn.blobs
    assert (sent.header["view"]["specials"], sent.header["seq"]) == ("hide", 1)


def test_the_map_of_a_long_text_is_in_memory_once(monkeypatch) -> None:
    length = 1536
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    attn = torch.randn(1, 1, length, length).masked_fill(~causal, -torch.inf).softmax(dim=-1)
    long = attnviz.from_tensors(attn, [f"w{at}" for at in range(length)], mask=causal)
    monkeypatch.setattr(heads, "LONG", length)
    attnviz.show(long)  # imports what it needs
    tracemalloc.start()
    widget = attnviz.show(long)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    seen = 4 * length * (length + 1) // 2
    assert seen < len(widget._blobs) < 1.2 * seen
    assert peak < 1.7 * seen  # with the labels, and a block of rows


def test_a_report_that_no_script_of_ours_sends_changes_nothing(trace) -> None:
    widget = attnviz.show(trace, row=2)
    report(widget, row="many")
    assert widget.row == 2


def test_two_pictures_can_be_linked(trace) -> None:
    one, other = attnviz.show(trace), attnviz.show(trace)
    traitlets.link((one, "view"), (other, "view"))
    report(one, layer=1, head=2)
    assert other.head == one.head == ("cross", 1, 2)
    assert other._told["head"] == 2


def test_a_wrong_value_is_one_sentence_and_leaves_the_picture_as_it_is(trace) -> None:
    widget = attnviz.show(trace, row=2)
    with pytest.raises(ValueError, match=r"^row=99 cannot be shown: it is a whole number from 0 to \d+\.$"):
        widget.row = 99
    with pytest.raises(ValueError, match=r"^There is no field 'nothing': this picture has kind, layer, "):
        widget.view = {"nothing": 1}
    with pytest.raises(
        ValueError, match=r"^head must be a kind, a layer and a head, such as .*, not \('cross', 1\)\.$"
    ):
        widget.head = ("cross", 1)
    with pytest.raises(ValueError, match=r"^pins=5 cannot be shown: "):
        widget.pins = 5
    assert widget.row == widget.view["row"] == 2


def test_a_picture_without_heads_says_what_it_has(trace) -> None:
    with pytest.raises(
        ValueError, match=r"^Flow has no setting called kind\. The settings are row, by, residual, flow\.$"
    ):
        _ = attnviz.show.flow(trace).head


@each_case("name", [name for name in PICTURES if name != "heads"])
def test_every_picture_is_a_widget_with_its_own_script(name, model, trace) -> None:
    widget = getattr(attnviz.show, name)(**PICTURES[name].example(model, trace))
    assert isinstance(widget, PictureWidget)
    assert widget._esm != attnviz.show(trace)._esm
    assert "<style>" in widget._esm
    assert not widget.has_trait("_css")  # it would style the whole page


def test_weights_are_shown_with_their_tokens() -> None:
    attn = torch.rand(2, 3, 2, 2).softmax(dim=-1)
    assert attnviz.show.links(attn, ["a", "b"]).view["kind"] == "encoder_self"
    batch = {"encoder_attentions": (attn,), "cross_attentions": (attn[:, :, :1],), "decoder_attentions": None}
    widget = attnviz.show(batch, ["c"], key_tokens=["a", "b"], kind="cross", item=1)
    assert widget.head[0] == "cross"
    with pytest.raises(
        ValueError, match=r"^Attention weights need their tokens\. Please call attnviz.show\(outputs, to"
    ):
        attnviz.show(attn, item=0)
    with pytest.raises(ValueError, match="trace"):
        attnviz.show(attn)


def test_a_widgets_repr_names_its_picture_and_text(trace) -> None:
    text = trace.src_text
    for shown, name in ((attnviz.show(trace), "PictureWidget"), (attnviz.show(trace, static=True), "StaticPicture")):
        assert repr(shown).startswith(f"<{name} heads: ")
        assert text in repr(shown)
        assert len(repr(shown)) < 300


def test_without_anywidget_the_command_that_gets_it_is_said(trace, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "attnviz.hosts.notebook.widget")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ValueError, match=r"^attnviz.show needs anywidget: pip install --group notebook"):
        attnviz.show(trace)
