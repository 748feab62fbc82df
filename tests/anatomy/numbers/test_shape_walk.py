"""The shape walk gives the model's own output on every site, and every line describes its tensor correctly."""

from dataclasses import replace

import pytest
import torch

from attnviz.analysis.inputs import site_inputs
from attnviz.analysis.outcome import Raised, SiteResult
from attnviz.analysis.rerun import batch_of_two
from attnviz.anatomy.numbers.shape_walk import LAYOUTS, shape_walk
from attnviz.anatomy.numbers.skipped_lines import SKIPS, run_skipped
from attnviz.anatomy.page.walk import memory_order
from attnviz.implementations.site_inputs import SiteInputs, odd_sized_inputs
from attnviz.models.translator.tiny import tiny_translator
from tests.each_case import each_case

KINDS = ("encoder_self", "decoder_self", "cross")
LONG, SHORT = "a big red dog jumped", "i love"


@pytest.fixture(scope="module")
def model():
    return tiny_translator()


@pytest.fixture(scope="module")
def pair(model):
    traces = [model.trace(text, to="fr", tgt_text=tgt) for text, tgt in ((LONG, "un chien rouge"), (SHORT, "je"))]
    return batch_of_two(model, *traces)


@pytest.fixture(params=KINDS)
def inputs(request: pytest.FixtureRequest, model, pair) -> SiteInputs:
    return site_inputs(model, pair, request.param, 1)


def last(inputs: SiteInputs, layout: str) -> torch.Tensor:
    tensor = shape_walk(inputs, layout)[-1].tensor
    return tensor if layout == "batch_first" else tensor.transpose(0, 1)


@each_case("layout", LAYOUTS)
@each_case("kind", KINDS)
def test_the_walk_gives_the_models_own_output(model, pair, kind, layout: str) -> None:
    inputs, call = site_inputs(model, pair, kind, 1), pair.call(kind, 1)
    stack = model.model.encoder if kind == "encoder_self" else model.model.decoder
    module = getattr(stack.layers[1], "cross_attention" if kind == "cross" else "self_attention")
    expected = module(call.input_, call.memory, call.mask)
    torch.testing.assert_close(last(inputs, layout), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_line_says_the_truth_of_its_tensor(inputs: SiteInputs, layout: str) -> None:
    for step in shape_walk(inputs, layout):
        assert tuple(size for _, size in step.after) == tuple(step.tensor.shape)
        assert step.strides == step.tensor.stride()
        assert step.is_contiguous == step.tensor.is_contiguous()
        assert step.nbytes == step.tensor.numel() * step.tensor.element_size()
        assert len({name for name, _ in step.after}) == len(step.after)


def test_view_and_transpose_share_memory_and_contiguous_copies(inputs: SiteInputs) -> None:
    by_code = {step.code: step for step in shape_walk(inputs)}
    assert by_code["query = query.view(batch, q_len, heads, d_k)"].shares
    turned = by_code["query = query.transpose(1, 2)"]
    assert turned.shares
    assert not turned.is_contiguous
    copied = by_code["context = context.contiguous()"]
    assert not copied.shares
    assert copied.is_contiguous
    spread = by_code["mask = mask.expand_as(scores)"]
    assert 0 in spread.strides
    assert spread.memory_bytes < spread.nbytes


def test_an_unknown_layout_is_refused() -> None:
    with pytest.raises(ValueError, match="layout"):
        shape_walk(odd_sized_inputs(), "sideways")


RAISES = {"contiguous", "unsqueeze 0", "transpose"}


@each_case("name", SKIPS)
def test_a_skipped_line_raises_or_is_wrong(name: str) -> None:
    result = run_skipped(name, odd_sized_inputs(blind_row=False))  # batch 2, heads 3, length 5: no two sizes are equal
    if name in RAISES:
        assert isinstance(result, Raised)
        assert result.error.startswith("RuntimeError")
    else:
        assert isinstance(result, Raised) or not result.output_change < 1e-3, "wrong, or NaN"


def test_a_view_without_contiguous_fails_in_torchs_own_words() -> None:
    assert "view size is not compatible" in run_skipped("contiguous", odd_sized_inputs()).error


def test_a_mask_for_a_batch_of_one_hides_the_wrong_unsqueeze() -> None:
    inputs = odd_sized_inputs()
    assert inputs.mask is not None
    one = SiteInputs(inputs.weights, inputs.input_, inputs.memory, inputs.mask[:1])
    assert run_skipped("unsqueeze 0", one).output_change == 0


def test_an_unknown_line_is_refused() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        run_skipped("everything", odd_sized_inputs())


def test_row_major_order_of_a_small_tensor() -> None:
    flat, viewed, turned, copied, mistaken = memory_order(3, 2, 2)
    assert flat.places.flatten().tolist() == list(range(12))
    assert viewed.places.flatten().tolist() == list(range(12))
    assert turned.numbers.tolist() == [[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]]
    assert torch.equal(turned.places, turned.numbers), "nothing has moved in memory"
    assert copied.places.flatten().tolist() == list(range(12)), "everything has moved"
    assert torch.equal(copied.numbers, turned.numbers)
    assert mistaken.numbers.shape == turned.numbers.shape
    assert mistaken.numbers[0].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (turned.is_contiguous, copied.is_contiguous) == (False, True)


def test_sizes_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        memory_order(0, 2, 2)


def test_damage_is_shown_on_the_sentence_that_has_it() -> None:
    right = torch.full((2, 3, 5, 5), 0.2)
    second = right.clone()
    second[1, 2] = torch.nan
    for wrong, head, item in ((right, 2, 0), (second, 2, 1), (second, 0, 0), (second.flip(0), 2, 0)):
        assert SiteResult(right, wrong, right, right).shows_at(head) == item


def test_row_sums_leave_rows_of_nan_out() -> None:
    attn = torch.full((1, 1, 2, 4), 0.5)
    attn[0, 0, 1] = torch.nan
    assert SiteResult(attn, attn, attn, attn).row_sums == (2.0, 2.0)


@pytest.mark.parametrize(
    ("kind", "code"),
    [("encoder_self", "ids != pad_id"), ("decoder_self", ".tril()"), ("cross", "ids != pad_id")],
)
def test_the_masks_line_is_the_one_that_made_it(model, pair, kind, code: str) -> None:
    inputs = site_inputs(model, pair, kind, 1)
    for layout in LAYOUTS:
        (line,) = [step for step in shape_walk(inputs, layout) if step.code.startswith("mask = ") and code in step.code]
        assert line.tensor.numel() == inputs.mask.numel()


@each_case("layout", LAYOUTS)
@each_case(("norm_first", "code"), [(True, "input_ = norm(x)"), (False, "input_ = x")])
def test_the_first_line_says_whether_the_layer_has_normalised_its_input(layout, norm_first, code) -> None:
    model = tiny_translator()
    model.model.config = replace(model.model.config, norm_first=norm_first)
    inputs = site_inputs(model, model.trace("i love", to="fr"), "encoder_self", 0)
    assert shape_walk(inputs, layout)[0].code == code
