"""Every picture by its name: its fields, and one sentence for a field or value that it does not have."""

import numpy as np
import pytest

import attnviz
from attnviz.hosts.registry import PICTURES, picture
from attnviz.kit.bundle import source
from attnviz.kit.picture import ShownPicture
from attnviz.kit.wire import unpack
from attnviz.tracing.external.from_tensors import from_tensors
from tests.each_case import each_case
from tests.hosts.pictures.every_picture import draw_every


@pytest.fixture(scope="module")
def every(model, trace) -> dict[str, ShownPicture]:
    return draw_every(model, trace)


@each_case("name", PICTURES)
def test_each_picture_has_a_payload_with_its_caption_and_what_nobody_answers(every, name) -> None:
    shown = every[name]
    header = unpack(shown.payload().pack()).header
    assert header["caption"]["model"]
    assert set(header["lacks"]) <= set(shown.without_python().payload().header["lacks"])
    assert set(shown.picture.python_only) <= set(shown.without_python().payload().header["lacks"])
    assert source(shown.picture.drawn_by).html


@each_case("name", sorted(set(PICTURES) - {"mask_lab"}))
def test_a_view_that_its_browser_reports_changes_nothing_where_nothing_was_chosen(every, name) -> None:
    shown = every[name]
    payload = shown.payload()
    told = shown.with_view({**payload.header["view"], "seq": 7})
    assert told.payload().header["view"] == {**payload.header["view"], "seq": 7}
    assert told.payload().blobs == payload.blobs


def test_fields_are_asked_as_the_state_has_them_or_as_a_link_writes_them(trace) -> None:
    heads = picture("heads")
    pinned = heads.of(trace, kind="decoder_self", layer=np.int64(1), head="mean", pins=[("cross", 0, 1)], words=True)
    as_text = heads.of(trace, kind="decoder_self", layer="1", head="mean", pins="cross.0.1", words="1")
    assert pinned.state == as_text.state
    assert (pinned.state.layer, pinned.state.pins, pinned.state.words) == (1, (("cross", 0, 1),), True)
    assert picture("links").of(trace, heads=[(0, 1)], token="q1").state.heads == ((0, 1),)
    assert heads.of(trace, row=None, kind=None).state == heads.of(trace).state


@each_case(
    ("name", "asked", "says"),
    [
        ("heads", {"layr": 1}, "There is no field 'layr': this picture has kind, layer, head, row,"),
        ("heads", {"layer": 9}, "layer=9 cannot be shown: this model has layers 0 to 1."),
        ("heads", {"head": 2.5}, "head=2.5 cannot be shown: this model has heads 0 to "),
        ("heads", {"kind": "self"}, "kind='self' cannot be shown: it can be encoder_self, decoder_self, cross."),
        ("heads", {"row": 99}, "row=99 cannot be shown: it is a whole number from 0 to "),
        ("heads", {"words": "maybe"}, "words='maybe' cannot be shown: it is true, false or spans."),
        ("heads", {"sort": "beauty"}, "sort='beauty' cannot be shown: it can be layout, "),
        ("heads", {"pins": [("cross", 0, 99)]}, "cannot be shown: a pin is kind.layer.head, such as cross.2.5."),
        ("heads", {"zoom": (1, 2)}, "zoom=(1, 2) cannot be shown: a zoom is given as first row"),
        ("heads", {"off": [("cross", 0)]}, "off=[('cross', 0)] cannot be shown"),
        ("heads", {"off": [("cross", 0, 0)]}, "off=… cannot be shown. Please pass the model that made the trace"),
        ("links", {"heads": [(0, 77)]}, "cannot be shown: a head is layer.head, such as 1.3."),
        ("links", {"token": "q99"}, "token='q99' cannot be shown: it is a query or a key and its position"),
        ("neuron", {"key": 99}, "key=99 cannot be shown: it is a whole number from 0 to "),
        ("flow", {"residual": 101}, "residual=101 cannot be shown: it is a number from 0 to 100."),
        ("flow", {"by": "alti"}, "ALTI needs the model that made the trace, so please pass model=…."),
        ("alignment", {"way": "head.9.9.out"}, "this trace has no such way of aligning."),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_said_in_one_sentence(trace, name, asked, says) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the sentence is compared below
        picture(name).of(trace, **asked).payload()
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_picture_and_a_wrong_subject_are_said_in_one_sentence(model, trace) -> None:
    with pytest.raises(ValueError, match=r"There is no picture 'head': choose one of heads, links, .*learning\."):
        picture("head")
    with pytest.raises(ValueError, match=r"name is one text, not a list\."):
        picture(["heads"])
    with pytest.raises(ValueError, match=r"trace is a trace .*, not 'I love you'"):
        picture("heads").of("I love you")
    with pytest.raises(ValueError, match=r"Masks is drawn from \(model, trace\): missing a required argument: 'trace'"):
        picture("mask_lab").of(model)
    own = from_tensors(np.full((1, 2, 3, 3), 1 / 3, np.float32), ["a", "b", "c"])
    with pytest.raises(ValueError, match="Neuron needs queries and keys"):
        picture("neuron").of(own)
    with pytest.raises(ValueError, match="Alignment needs cross-attention"):
        picture("alignment").of(own)
    with pytest.raises(ValueError, match="trace is a trace"):
        picture("attribution").of(model, own)


def test_a_view_that_no_script_of_ours_sends_is_dropped(trace) -> None:
    shown = picture("heads").of(trace, head=1)
    for told in ("view", {"layer": True}, {"layer": 99, "head": 0, "seq": "x"}):
        assert shown.with_view(told).state.layer == 0
    assert shown.with_view({"head": 0, "seq": 3}).seq == 3


def test_heads_that_the_browser_switches_off_are_off_in_a_run_of_the_model(model, trace) -> None:
    shown = picture("heads").of(trace, model=model)
    off = shown.with_view({"off": [["cross", 0, 1]]})
    assert off.payload().header["view"]["off"] == [["cross", 0, 1]]
    assert off.payload().blobs != shown.payload().blobs
    assert "off" not in shown.lacks
    done = picture("switches").of(model, trace).with_view({"off": ["cross.0.1"]}).payload().header
    assert done["done"] == ["cross.0.1"]


def test_the_text_beside_switched_off_heads_is_what_the_model_writes_without_them(model, trace) -> None:
    heads = [f"{kind}.{layer}.{head}" for kind in model.shapes for layer in range(2) for head in range(5)]
    told = picture("switches").of(model, trace, off=heads).payload().header["texts"]
    texts = ["".join(text for text, _ in runs) for runs in told]
    for text, done in zip(texts, ((), [attnviz.ablate(kind) for kind in model.shapes]), strict=True):
        assert text
        assert model.translate("I love you", to="fr", interventions=done).startswith(text)  # it is cut earlier
    assert texts[0] != texts[1]


def test_a_run_that_is_compared_is_a_name_a_model_and_a_trace(model, trace, every) -> None:
    (_, _, other) = picture("compared").example(model, trace)["there"]
    shown = picture("compared").of(("one", model, trace), ["other", model, other])
    assert shown.payload().blobs == every["compared"].payload().blobs
    assert [runs[0][0] for runs in shown.payload().header["texts"]] == ["je t'aime", "je t'aime"]
    for wrong in (trace, ("one", model), ("one", trace, model), "one"):
        with pytest.raises(ValueError, match=r"compare as \(name, model, trace\)"):
            picture("compared").of(wrong, ("other", model, other))


def test_tokens_that_were_asked_for_outlive_a_browsers_report_of_the_step_that_was_drawn(model, trace) -> None:
    """The browser tells the step with every choice, also where none was asked for."""
    other = model.trace("I see you", to="fr", tgt_text="je t'aime")
    asked = {
        picture("patching").of(model, trace, other, a="#7", b="#8"): {"put": []},
        picture("attribution").of(model, trace, token="#7", against="#8"): {"order": "model"},
    }
    for shown, chosen in asked.items():
        told = shown.with_view({**shown.payload().header["view"], **chosen, "seq": 1}).state
        assert [getattr(told, name) for name in ("a", "b", "token", "against") if hasattr(told, name)] == ["#7", "#8"]
        again = shown.with_view({**shown.payload().header["view"], "step": 1, "seq": 1}).with_view({"step": 2}).state
        assert not getattr(again, "a", "") + getattr(again, "token", "")


def test_another_step_lets_go_of_the_tokens_of_the_one_before(model, trace) -> None:
    shown = picture("attribution").of(model, trace, token="#7")
    assert shown.with_view({"order": "model"}).state.token == "#7"
    assert shown.with_view({"step": 1}).state.token == ""
