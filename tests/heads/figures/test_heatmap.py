"""The Plotly figure of a map: right cells, right labels, nothing read as markup, nothing hidden by colour alone."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import attnviz
from attnviz.heads.figures.heatmap import MOST_UPRIGHT, _boxes, heatmap_of, heatmap_of_any_width
from attnviz.kit.views import colour
from attnviz.kit.views.labels import MAX_LABEL, escape_for_plotly, head_name, map_title, ticks
from attnviz.maps.grouping import ColLabel, RowLabel
from attnviz.maps.maps import EagerMaps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case

NASTY = "<b>$x$&amp;"


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=0).trace("machine learning is fun.", to="fr", tgt_text="un petit chien rouge")


def make_maps(attn: torch.Tensor, mask: torch.Tensor | None = None, text: str = "a") -> EagerMaps:
    """Make a map of `attn` `(rows, cols)`, every token the same, so that only places tell them apart."""
    rows, cols = attn.shape
    return EagerMaps(
        kind="cross",
        attn=attn[None, None],
        mask=(torch.ones(rows, cols, dtype=torch.bool) if mask is None else mask)[None, None],
        rows=tuple(RowLabel(text, text, (at,)) for at in range(rows)),
        cols=tuple(ColLabel(text, (at,)) for at in range(cols)),
    )


def cells(figure: go.Figure) -> go.Heatmap:
    return next(trace for trace in figure.data if isinstance(trace, go.Heatmap))


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_the_cells_are_the_weights_of_that_head(trace, kind) -> None:
    heatmap = cells(attnviz.views.heatmap(trace, kind, layer=1, head=3))
    assert heatmap.z.dtype == np.float32
    assert np.array_equal(heatmap.z, trace.attn(kind, layer=1, head=3).numpy())


def test_means_are_drawn_unless_a_head_is_named(trace) -> None:
    figure = attnviz.views.heatmap(trace, "cross")
    assert np.allclose(cells(figure).z, trace.attn("cross").mean((0, 1)).numpy())
    assert "mean of all layers and heads" in figure.layout.title.text


def test_the_row_labelled_a_to_b_is_the_row_whose_query_is_a_and_whose_output_is_b(trace) -> None:
    figure = attnviz.views.heatmap(trace, "cross", layer=0, head=2)
    labels = dict(zip(figure.layout.yaxis.tickvals, figure.layout.yaxis.ticktext, strict=True))
    outputs = trace.output_tokens("cross")
    assert outputs is not None
    rows = zip(trace.query_tokens("cross"), outputs, strict=True)
    for at, (query, output) in enumerate(rows):
        assert labels[at] == escape_for_plotly(f"{query.text} → {output.text}")
        hovered = set(cells(figure).customdata[at, :, 0])
        assert {said.partition("<br>")[0] for said in hovered} == {labels[at]}
        ids = f"ids {query.id}, {output.id}"
        assert all(ids in said and escape_for_plotly(output.piece) in said for said in hovered)
        assert np.array_equal(cells(figure).z[at], trace.attn("cross", layer=0, head=2)[at].numpy())


def test_the_first_row_is_on_top_and_the_first_key_on_the_left(trace) -> None:
    layout = attnviz.views.heatmap(trace, "cross").layout
    rows, cols = trace.attn("cross").shape[-2:]
    assert layout.yaxis.range == (rows - 0.5, -0.5)
    assert layout.xaxis.range == (-0.5, cols - 0.5)


def test_repeated_tokens_keep_their_columns() -> None:
    figure = heatmap_of(make_maps(torch.full((3, 5), 0.2)), 0, 0)
    assert list(figure.layout.xaxis.tickvals) == list(cells(figure).x) == [0, 1, 2, 3, 4]
    assert list(figure.layout.xaxis.ticktext) == ["a"] * 5


def test_what_is_drawn_is_said(trace) -> None:
    layout = attnviz.views.heatmap(trace, "cross", layer=1, head=3).layout
    assert layout.title.text == "Cross-attention, L1 H3"
    assert layout.title.subtitle.text == "which source token each step looks at"
    assert layout.yaxis.title.text.startswith("query ↓")
    assert layout.xaxis.title.text.startswith("key →")


def test_colours_run_from_zero_to_one_unless_said(trace) -> None:
    assert (cells(attnviz.views.heatmap(trace, "cross")).zmin, cells(attnviz.views.heatmap(trace, "cross")).zmax) == (
        0,
        1,
    )
    assert cells(attnviz.views.heatmap(trace, "cross", zmax=0.25)).zmax == 0.25


def test_hidden_special_tokens_are_in_the_legend(trace) -> None:
    figure = attnviz.views.heatmap(trace, "cross", specials="hide", words=True)
    assert "rows sum to less than 1" in figure.layout.title.subtitle.text
    assert cells(figure).z.shape == tuple(select(trace, "cross", MapOptions("hide", words=True)).attn.shape[-2:])


def test_tokens_are_never_markup() -> None:
    figure = heatmap_of(make_maps(torch.full((2, 3), 1 / 3), text=NASTY), 0, 0)
    plain = "&lt;b&gt;&#36;x&#36;&amp;amp;"
    assert list(figure.layout.xaxis.ticktext) == [plain] * 3
    assert list(figure.layout.yaxis.ticktext) == [f"{plain} → {plain}"] * 2
    assert set(cells(figure).customdata[..., 1].flat) == {plain}
    assert NASTY not in figure.to_json()


def test_hovering_gives_row_key_exact_weight_and_whether_it_is_masked() -> None:
    mask = torch.tensor([[True, False], [False, False]])
    heatmap = cells(heatmap_of(make_maps(torch.tensor([[1.0, 0.0], [0.0, 0.0]]), mask), 0, 0))
    assert "%{z:.6g}" in heatmap.hovertemplate
    assert heatmap.customdata[..., 2].tolist() == [
        ["", " (masked)"],
        [" (no keys: this row may not see any of them)"] * 2,
    ]


def test_a_row_whose_keys_are_hidden_says_so(trace) -> None:
    heatmap = cells(attnviz.views.heatmap(trace, "decoder_self", layer=0, head=0, specials="hide"))
    assert set(heatmap.customdata[0, :, 2]) == {" (this row sees only special tokens, which are hidden)"}


def test_masked_cells_are_hatched_by_a_pattern_and_only_they() -> None:
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    figure = heatmap_of(make_maps(mask / mask.sum(-1, keepdim=True), mask), 0, 0)
    hatching = next(one for one in figure.data if one.name == "masked")
    assert hatching.fillpattern.shape == "/"
    assert hatching.hoverinfo == "skip"  # or it would swallow the cells' own hover
    assert "hatched" in figure.layout.title.subtitle.text
    # Row 0 hides columns 1 and 2, row 1 column 2.
    assert hatching.x == (0.5, 2.5, 2.5, 0.5, 0.5, None, 1.5, 2.5, 2.5, 1.5, 1.5, None)
    assert hatching.y == (-0.5, -0.5, 0.5, 0.5, -0.5, None, 0.5, 0.5, 1.5, 1.5, 0.5, None)


def test_without_a_mask_or_when_not_asked_nothing_is_hatched() -> None:
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    assert len(heatmap_of(make_maps(mask.float(), mask), 0, 0, mask=False).data) == 1
    assert len(heatmap_of(make_maps(torch.eye(3)), 0, 0).data) == 1


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=7))
def test_boxes_cover_masked_cells_once_and_no_others(hidden: list[list[bool]]) -> None:
    covered = np.zeros((len(hidden), 5), dtype=int)
    for top, bottom, left, right in _boxes(np.array(hidden)):
        covered[top : bottom + 1, left : right + 1] += 1
    assert np.array_equal(covered, np.array(hidden).astype(int))


def test_light_and_dark_are_drawn_on_their_own_panels(trace) -> None:
    for theme, panel in (("light", "#ffffff"), ("dark", "#161a22")):
        figure = attnviz.views.heatmap(trace, "cross", theme=theme)
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == panel
        assert cells(figure).colorscale[0] == (0.0, panel)
    with pytest.raises(ValueError, match="not 'sepia'"):
        attnviz.views.heatmap(trace, "cross", theme="sepia")


def test_long_maps_keep_few_labels_and_every_token_on_hover() -> None:
    figure = heatmap_of(make_maps(torch.full((257, 101), 1 / 101)), 0, 0)
    assert len(figure.layout.yaxis.ticktext) <= 48
    assert len(figure.layout.xaxis.ticktext) <= 24, "they are slanted, and need more room"
    assert cells(figure).customdata.shape == (257, 101, 3)
    assert figure.layout.height <= 900


@each_case("count", [1, 47, 48, 49, 96, 97, 512])
def test_ticks_are_thinned_evenly(count: int) -> None:
    places = ticks(["a"] * count)["tickvals"]
    assert len(places) <= 48
    assert places[0] == 0
    assert len(set(np.diff(places))) <= 1


@pytest.mark.parametrize("size", [1, 13, 60])
def test_a_map_for_a_phone_names_few_keys_upright_above_cells_of_any_shape(size: int) -> None:
    maps = make_maps(torch.full((size, size), 1 / size), text="a long name")
    wide, narrow = heatmap_of(maps, 0, 0).layout, heatmap_of_any_width(maps, 0, 0).layout
    assert (narrow.xaxis.tickangle, narrow.yaxis.scaleanchor) == (-90, None)
    assert len(narrow.xaxis.ticktext) <= MOST_UPRIGHT
    assert narrow.height - narrow.margin.t == wide.height - wide.margin.t
    assert narrow.margin.t > wide.margin.t


def test_an_empty_map_is_a_figure_too() -> None:
    empty = replace(
        make_maps(torch.ones(1, 1)), attn=torch.zeros(1, 1, 0, 0), mask=torch.ones(1, 1, 0, 0, dtype=torch.bool)
    )
    assert heatmap_of(replace(empty, rows=(), cols=()), 0, 0).layout.height >= 250


def test_long_words_are_shortened_on_the_axis_only() -> None:
    figure = heatmap_of(make_maps(torch.ones(1, 1), text="x" * 99), 0, 0)
    assert figure.layout.xaxis.ticktext == ("x" * (MAX_LABEL - 1) + "…",)
    assert cells(figure).customdata[0, 0, 1] == "x" * 99


def test_a_head_that_is_not_there_is_refused(trace) -> None:
    with pytest.raises(ValueError, match="head must be a number from 0 to 4 or 'mean', not 7"):
        attnviz.views.heatmap(trace, "cross", layer=0, head=7)


def test_names_of_heads_and_means() -> None:
    assert head_name(2, 5) == "L2 H5"
    assert head_name(2, "mean") == "L2, mean of heads"
    assert head_name("mean", 5) == "H5, mean of layers"
    assert map_title("encoder_self", 0, 0) == "Encoder self-attention, L0 H0: which token each token looks at"


def test_the_scale_in_the_figure_is_the_shared_one(trace) -> None:
    scale = cells(attnviz.views.heatmap(trace, "cross")).colorscale
    assert [list(stop) for stop in scale or ()] == colour.plotly_scale(colour.SEQUENTIAL_LIGHT)
