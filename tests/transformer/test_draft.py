"""A draft is nearly what the decoder itself computes, and goes on from wherever it was put right."""

import os

import pytest
import torch
from torch import nn
from torch.nn.functional import linear

from attnviz.transformer.config import ModelConfig
from attnviz.transformer.decoding import Vocabulary
from attnviz.transformer.draft import DraftModel, _threads
from attnviz.transformer.matvec import ByteMatVec
from attnviz.transformer.transformer import Transformer
from tests.each_case import each_case

NO_END = Vocabulary(-1)


def _module_and_row() -> tuple[nn.Linear, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    module = nn.Linear(11, 5).requires_grad_(False)
    module.weight.data = torch.randn(5, 11, generator=generator)
    return module, torch.randn(11, generator=generator)


def test_each_weight_is_off_by_half_a_level_at_most() -> None:
    module, x = _module_and_row()
    level = (module.weight.amax(dim=0) - module.weight.amin(dim=0)) / 255
    most = float((x.abs() * level / 2).sum()) + 1e-5
    rounded = ByteMatVec.from_module(module)(x)
    assert rounded.shape == (5,)
    assert 0 < float((rounded - linear(x, module.weight, module.bias)).abs().max()) <= most


@each_case("zeros", [[], [0], [3, 4, 10], list(range(11))])
def test_columns_that_weigh_nothing_are_left_out(zeros: list[int]) -> None:
    module, x = _module_and_row()
    product = ByteMatVec.from_module(module)
    x[zeros] = 0
    columns = torch.stack([product(row) - module.bias for row in torch.eye(11)], dim=1)
    torch.testing.assert_close(product(x), columns @ x + module.bias, rtol=0, atol=1e-5)


def test_weights_on_a_level_are_not_rounded() -> None:
    weight = torch.tensor([[0.0, -255.0], [17.0, 0.0], [255.0, -3.0]])
    product = ByteMatVec.from_weight(weight, torch.tensor([0.5, 0.0, -0.5]))
    assert product(torch.tensor([2.0, 1.0])).tolist() == [-254.5, 34.0, 506.5]


def test_its_logits_are_nearly_the_models(either_norm: Transformer, src, tgt_in) -> None:
    model, src, tgt_in = either_norm, src[:1, :3], tgt_in[0].tolist()
    memory = model.encode(src, None)
    expected = model.logits(model.decode(torch.tensor([tgt_in]), memory, None))[0]
    draft = DraftModel(model).begin(memory, capacity=len(tgt_in))
    found = torch.cat([draft.step(id_) for id_ in tgt_in])
    assert 0 < float((found - expected).abs().max()) < 0.05 * float(expected.std())


def test_it_goes_on_from_where_it_was_put_right(model: Transformer, src) -> None:
    memory = model.encode(src[:1, :3], None)
    draft = DraftModel(model).begin(memory, capacity=9)
    first = draft.go_on([1], NO_END, limit=9)
    mended = [*first[:4], (first[4] + 1) % 23]
    again = draft.go_on(mended, NO_END, limit=9)
    fresh = DraftModel(model).begin(memory, capacity=9)
    for id_ in mended[:-1]:
        fresh.step(id_)
    expected = list(mended)
    while len(expected) <= 9:
        expected.append(int(fresh.step(expected[-1]).argmax()))
    assert again == expected


def test_it_writes_only_what_may_be_written(model: Transformer, src) -> None:
    draft = DraftModel(model).begin(model.encode(src[:1, :3], None), capacity=6)
    freely = draft.go_on([1], NO_END, limit=6)
    never = tuple(set(freely[1:]))
    assert set(never).isdisjoint(draft.go_on([1], Vocabulary(-1, never), limit=6)[1:])


@pytest.mark.parametrize("limit", [1, 6])
def test_it_ends_at_the_limit_and_at_an_end(model: Transformer, src, limit: int) -> None:
    memory = model.encode(src[:1, :3], None)
    written = DraftModel(model).begin(memory, capacity=limit).go_on([1], NO_END, limit=limit)
    assert len(written) == 1 + limit
    ends = Vocabulary(written[-1])
    again = DraftModel(model).begin(memory, capacity=limit).go_on([1], ends, limit=limit)
    assert again == written[: 1 + written[1:].index(written[-1]) + 1]


def test_only_a_large_model_in_float32_has_one(model: Transformer) -> None:
    assert DraftModel.make_if_faster(model) is None, "its steps wait for nothing"
    large = Transformer(ModelConfig(vocab_size=23, d_model=128, n_heads=2, n_layers=2, d_ff=2048, d_k=11))
    large.initialise(1)
    can = "fbgemm" in torch.backends.quantized.supported_engines
    assert (DraftModel.make_if_faster(large) is not None) == can
    assert DraftModel.make_if_faster(large.to(torch.bfloat16)) is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # newer Pythons warn of a fork with threads: it is what is tried
def test_a_forked_child_has_threads_of_its_own() -> None:
    _threads().submit(int).result()
    if (child := os.fork()) == 0:
        os._exit(_threads().submit(int, "7").result())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
