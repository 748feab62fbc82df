"""Pictures as a notebook asks for them: of a trace and a state, without Streamlit."""

import subprocess
import sys

import numpy as np
import pytest

from attnviz.heads import heads
from attnviz.heads.alignment import alignment
from attnviz.heads.alignment.numbers.alignment_ways import KnownMaps
from attnviz.heads.every_head import every_head
from attnviz.heads.flow import flow
from attnviz.heads.heads import HeadsPicture
from attnviz.heads.heads_state import HeadsState, read_heads_state
from attnviz.heads.links import links
from attnviz.heads.neuron import neuron
from attnviz.hosts.registry import PICTURES, tabs
from attnviz.kit.browser_view import from_view, is_of, to_view
from attnviz.kit.fields import read, write, write_view
from attnviz.kit.focus import SiteBounds
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.external.from_tensors import from_tensors
from tests.each_case import each_case

EVERY_PICTURE = """
import sys
from attnviz.models.translator.tiny import tiny_translator
from tests.hosts.pictures.every_picture import draw_every
model = tiny_translator(seed=0)
trace = model.trace("I love you", to="fr", tgt_text="je t'aime")
print(*(len(one.payload().pack()) for one in draw_every(model, trace).values()), "streamlit" in sys.modules)
"""


def test_every_picture_is_made_without_streamlit() -> None:
    done = subprocess.run([sys.executable, "-c", EVERY_PICTURE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *sizes, has_streamlit = done.stdout.split()
    assert len(sizes) == len(PICTURES)
    assert has_streamlit == "False"


def test_a_state_is_fitted_to_what_the_trace_has(trace) -> None:
    view = heads.heads(trace, HeadsState("cross", 99, "mean", row=99, pins=(("cross", 0, 99),))).header["view"]
    assert (view["layer"], view["head"], view["row"], view["pins"]) == (0, "mean", None, [])
    view = links.links(trace, links.LinksState(heads=((0, 1), (99, 0)), token="q99")).header["view"]
    assert (view["heads"], view["token"]) == ([[0, 1]], None)
    own = from_tensors(np.full((1, 2, 3, 3), 1 / 3, np.float32), ["a", "b", "c"])
    assert every_head.whole_model(own).header["kind"] == "encoder_self", "a trace without cross-attention"


def test_a_picture_that_a_trace_cannot_have_is_refused_in_one_sentence() -> None:
    own = from_tensors(np.full((1, 2, 3, 3), 1 / 3, np.float32), ["a", "b", "c"])
    with pytest.raises(ValueError, match="cross-attention"):
        alignment.alignment(own)
    with pytest.raises(ValueError, match="only weights"):
        neuron.neuron(own)


@each_case("state", [one.state_type for one in tabs("Heads").values()], ids=lambda state: state.__name__)
def test_address_and_browser_say_the_same_of_a_state(state) -> None:
    view = to_view(state())
    told = from_view(state, view)
    assert told is not None
    assert state(**told) == state()
    assert from_view(state, {**view, "seq": 3, "other": "x"}) == told, "what is not declared is left out"
    assert set(write(state())) == set(write(state(**told)))


@each_case(
    "wrong",
    [
        {"kind": 3}, {"layer": True}, {"layer": None}, {"row": "1"}, {"pins": [["cross", 0]]}, {"pins": "cross.0.0"},
        {"zoom": [0, 1, 2]}, {"off": [["cross", "mean", 0]]}, {"kind": "x" * (1 << 21)}, {"row": 1 << 60},
        {"words": 2.5}, {"pins": [["cross", 0, 0]] * 5000},
    ],
)  # fmt: skip
def test_a_view_that_no_script_of_ours_sends_is_dropped(wrong) -> None:
    assert from_view(HeadsState, to_view(HeadsState()) | wrong) is None
    assert from_view(HeadsState, "view") is None


def test_is_of_checks_the_shape_of_lists() -> None:
    assert is_of([[0, 1], [2, 3]], [[int, int]])
    assert not is_of([[0, 1, 2]], [[int, int]])
    assert not is_of([0, True], [int])


def test_links_of_a_shared_address_are_read_back(trace) -> None:
    state = links.LinksState("cross", ((0, 1), (1, 0)), "k1", "max", "fit")
    texts = write(state)
    assert texts == {"kind": "cross", "lines": "0.1~1.0", "held": "k1", "opacity": "max", "fit": "fit"}
    bounds = {"kind": trace.kinds, "heads": trace.shape("cross")}
    assert read(links.LinksState, texts, bounds) == (state, ())


def test_maps_are_asked_of_the_cache_by_trace_kind_and_options(trace) -> None:
    asked = []

    def record_call(picture, key, make):
        asked.append((picture, *key[1:]))
        return make()

    HeadsPicture(trace, HeadsState(words=True), cached=record_call).payload()
    assert {picture for picture, *_ in asked} == {"heads", "maps"}
    assert {key[0] for picture, *key in asked if picture == "maps"} == set(trace.kinds)


def test_cells_hold_what_heads_write_where_the_model_is_given(trace) -> None:
    model = tiny_translator(seed=0)
    told = heads.heads(trace, HeadsState(cells="norm"), model=model).header
    assert told["cells"] == {"measure": "norm", "why": ""}
    assert heads.heads(trace, HeadsState(cells="norm")).header["cells"]["measure"] == "weight"


def test_flow_of_a_known_model_has_alti(trace) -> None:
    known = KnownMaps.find(tiny_translator(seed=0), trace)
    told = flow.flow(trace, flow.FlowState(by="alti"), known=known).header
    assert set(told["read"]) == {"rollout", "alti"}
    assert flow.flow(trace, flow.FlowState(by="alti")).header["view"]["by"] == "rollout"


def test_words_can_be_spans_in_a_link_and_nothing_else_that_a_browser_sends() -> None:
    bounds = SiteBounds({"cross": (3, 4)})
    state, problems = read_heads_state({"words": "spans"}, bounds, (), HeadsState())
    assert (state.words, problems) == ("spans", ())
    assert write(state)["words"] == "spans"
    assert write_view(HeadsState, {"words": "<script>"}) == {"words": "1"}
