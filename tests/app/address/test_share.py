"""Links: a written state is read back, an unreadable text gets a sentence, and the rest of the link still counts."""

from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st

from attnviz.app.address.share import lesson_query, link_problems, shared_query
from attnviz.heads.heads_state import HeadsState, read_heads_state
from attnviz.kit.focus import SiteBounds
from tests.each_case import each_case

FIELDS = tuple(HeadsState().to_params())

BOUNDS = SiteBounds(dict.fromkeys(("encoder_self", "decoder_self", "cross"), (3, 5)))
METRICS = ("entropy", "diagonality")
START = HeadsState(layer=1, head=2)
layers, heads = (st.one_of(st.integers(0, n - 1), st.just("mean")) for n in (3, 5))
kinds = st.sampled_from(tuple(BOUNDS.shapes))
views = st.builds(
    HeadsState,
    kind=kinds,
    layer=layers,
    head=heads,
    row=st.one_of(st.none(), st.integers(0, 511)),
    sort=st.sampled_from(("layout", "entropy")),
    tint=st.sampled_from(("none", "diagonality")),
    specials=st.sampled_from(("show", "hide", "renormalise")),
    words=st.booleans(),
    mask=st.booleans(),
    sink=st.booleans(),
    scale=st.sampled_from(("fixed", "max")),
    pins=st.lists(st.tuples(kinds, layers, heads), max_size=4).map(tuple),
    compare=st.sampled_from(("none", "side", "difference")),
    zoom=st.one_of(st.none(), st.sampled_from([(0, 3, 0, 5), (7, 19, 11, 512)])),
    bars=st.sampled_from(("weight", "position")),
    plotly=st.booleans(),
    table=st.booleans(),
)


@given(views)
def test_a_view_comes_back_from_its_texts(view):
    assert read_heads_state(view.to_params(), BOUNDS, METRICS, START) == (view, ())


@given(views, st.text(max_size=30), st.text(max_size=30))
def test_a_shared_link_carries_version_weights_sentences_and_every_option(view, src, tgt):
    query = shared_query({"model": "m", "src": src.replace("\ud800", ""), "to": "zh", "tgt": tgt}, view, "0123abcd")
    params = dict(parse_qsl(query, keep_blank_values=True))
    assert (params["v"], params["weights"], params["src"], params["tgt"]) == ("1", "0123abcd", src, tgt)
    assert set(FIELDS) <= set(params)
    assert read_heads_state(params, BOUNDS, METRICS, START) == (view, ())


def test_an_empty_address_is_the_models_start_state():
    assert read_heads_state({}, BOUNDS, METRICS, START) == (START, ())


@each_case(
    ("params", "says"),
    [
        ({"layer": "7"}, "layer “7”, but this model has layers 0 to 2; used instead: 1"),
        ({"layer": "-1"}, "layers 0 to 2"),
        ({"zoom": "0.3.5"}, "zoom “0.3.5”"),
        ({"zoom": "3.3.0.5"}, "used instead: the whole map"),
        ({"layer": "²"}, "layers 0 to 2"),
        ({"head": "five"}, "head “five”, but this model has heads 0 to 4; used instead: 2"),
        ({"kind": "self"}, "kind “self”"),
        ({"row": "x"}, "row “x”"),
        ({"pins": "cross.9.9"}, "pins “cross.9.9”"),
        ({"sort": "beauty"}, "sort “beauty”"),
        ({"specials": "maybe"}, "specials “maybe”"),
        ({"words": "yes"}, "words “yes”"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence_and_the_rest_counts(params, says):
    view, problems = read_heads_state(params | {"mask": "1"}, BOUNDS, METRICS, START)
    assert view.mask
    assert len(problems) == 1
    assert says in problems[0]


@given(st.dictionaries(st.sampled_from(FIELDS), st.text(max_size=60)))
def test_any_texts_give_a_view_within_bounds(params):
    view, _ = read_heads_state(params, BOUNDS, METRICS, START)
    assert view.kind in BOUNDS.shapes
    assert view.layer == "mean" or 0 <= view.layer < 3
    assert view.head == "mean" or 0 <= view.head < 5
    assert len(view.pins) <= 4


def test_a_link_for_other_weights_version_or_language_is_said_so():
    said = link_problems({"v": "2", "weights": "aaaa", "to": "tlh"}, ("fr", "zh"), "bbbb")
    assert len(said) == 3
    assert "version 2" in said[0]
    assert "then aaaa, now bbbb" in said[1]
    assert "“tlh”, but this model writes fr, zh" in said[2]
    assert link_problems({"v": "1", "weights": "bbbb", "to": "zh"}, ("fr", "zh"), "bbbb") == ()


def test_a_lessons_link_has_the_head_and_what_was_chosen_and_no_defaults() -> None:
    view = HeadsState(kind="cross", layer=1, head=0, specials="hide")
    query = lesson_query(
        {"model": "translator-en-de-es-fr-zh", "src": "I love you.", "to": "fr", "tgt": ""},
        view,
        {"specials": "hide", "scale": ""},
    )
    assert query == "src=I+love+you.&to=fr&kind=cross&layer=1&head=0&specials=hide"
