"""Links and the whole model in a notebook: of a model's trace, and of anybody's weights."""

import numpy as np
import pytest
import torch

import attnviz
from attnviz.heads.figures.links import SHADES
from attnviz.maps.lines import FAINTEST
from attnviz.models.translator.tiny import tiny_translator

WORDS = ["[CLS]", "<b>", "$x$", "[SEP]"]
ATTN = torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(2)).mul(2).softmax(-1)


def test_every_weight_that_can_be_seen_is_a_line_from_its_row_to_its_key() -> None:
    figure = attnviz.views.links(attnviz.from_tensors(ATTN, WORDS), "encoder_self", [(1, 2), (0, 1)])
    drawn: dict[str, dict[tuple[int, int], float]] = {}
    for trace in figure.data[1:]:
        ends = np.array(trace.y, dtype=float).reshape(-1, 3)
        for row, key, _ in ends:
            drawn.setdefault(trace.name, {})[int(row), int(key)] = trace.opacity
    for name, attn in (("L1 H2", ATTN[1, 2]), ("L0 H1", ATTN[0, 1])):
        assert set(drawn[name]) == {(int(row), int(key)) for row, key in (attn >= FAINTEST).nonzero()}
        for (row, key), opacity in drawn[name].items():
            assert 0 <= opacity - float(attn[row, key]) <= 1 / SHADES + 1e-6


def test_layer_and_head_name_one_head_as_in_the_other_views() -> None:
    trace = attnviz.from_tensors(ATTN, WORDS)
    figure = attnviz.views.links(trace, "encoder_self", layer=1, head=2)
    assert figure.to_json() == attnviz.views.links(trace, "encoder_self", [(1, 2)]).to_json()
    assert figure.to_json() != attnviz.views.links(trace, "encoder_self", layer=1).to_json()


def test_labels_are_the_tokens_and_never_markup() -> None:
    figure = attnviz.views.links(attnviz.from_tensors(ATTN, WORDS), "encoder_self", [(0, 0)])
    for axis in (figure.layout.yaxis, figure.layout.yaxis2):
        assert list(axis.ticktext) == ["[CLS]", "&lt;b&gt;", "&#36;x&#36;", "[SEP]"]


def test_decoder_rows_are_labelled_input_to_output() -> None:
    trace = tiny_translator().trace("I love you.", to="fr", tgt_text="je t'aime")
    figure = attnviz.views.links(trace, "cross", [(0, 0)])
    taken, given = trace.query_tokens("cross"), trace.output_tokens("cross")
    assert figure.layout.yaxis.ticktext[1] == f"{taken[1].text} → {given[1].text}"
    assert figure.layout.yaxis2.ticktext[0] == trace.key_tokens("cross")[0].text


def test_the_whole_model_is_every_heads_map_in_its_place() -> None:
    figure = attnviz.views.whole_model(attnviz.from_tensors(ATTN, WORDS), "encoder_self")
    z = np.array(figure.data[0].z)
    for layer in range(2):
        for head in range(3):
            block = z[layer * 5 : layer * 5 + 4, head * 5 : head * 5 + 4]
            assert np.allclose(block, ATTN[layer, head], atol=0.5 / 255 + 1e-6)
    assert list(figure.layout.xaxis.ticktext) == ["H0", "H1", "H2"]
    assert list(figure.layout.yaxis.ticktext) == ["L0", "L1"]


def test_no_head_is_an_empty_picture_and_a_wrong_one_an_error() -> None:
    trace = attnviz.from_tensors(ATTN, WORDS)
    assert len(attnviz.views.links(trace, "encoder_self", []).data) == 1
    with pytest.raises(ValueError, match="head must be a number from 0 to 2"):
        attnviz.views.links(trace, "encoder_self", [(0, 9)])
