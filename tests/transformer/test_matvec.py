"""One row through a linear map: the same numbers as the matrix product, by whichever way they come."""

import pytest
import torch
from torch import nn
from torch.nn.functional import linear

from attnviz.transformer.matvec import MatVec
from tests.each_case import each_case


def _module(dtype: torch.dtype = torch.float32, *, by_column: bool = True) -> nn.Linear:
    generator = torch.Generator().manual_seed(7)
    module = nn.Linear(11, 5).requires_grad_(False)
    weight = torch.randn(11, 5, generator=generator).t()
    module.weight.data = (weight if by_column else weight.contiguous()).to(dtype)
    module.bias.data = torch.randn(5, generator=generator).to(dtype)
    return module


def test_a_quantized_product_of_one_row_equals_a_count_by_hand() -> None:
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).t().contiguous().t()
    product = MatVec.from_weight(weight, torch.tensor([0.5, 0.0, -0.5]))
    assert product.every_column is not None
    assert product(torch.tensor([[10.0, 1.0]])).tolist() == [[12.5, 34.0, 55.5]]


@each_case("shape", [(11,), (1, 11), (1, 1, 11), (3, 1, 11), (2, 3, 11)])
@each_case("by_column", [True, False])
def test_any_number_of_rows_and_either_layout_equal_the_module(shape: tuple[int, ...], by_column: bool) -> None:
    module, x = _module(by_column=by_column), torch.randn(shape, generator=torch.Generator().manual_seed(1))
    product = MatVec.from_module(module)
    assert (product.every_column is not None) == by_column, "columns are summed where they lie one after another"
    torch.testing.assert_close(product(x), module(x), rtol=0.0, atol=2e-6)


def test_a_row_that_is_a_part_of_many_is_read_as_it_lies() -> None:
    module, many = _module(), torch.randn(1, 13, 11, generator=torch.Generator().manual_seed(2)).transpose(1, 2)
    row = many.transpose(1, 2)[:, -1]
    torch.testing.assert_close(MatVec.from_module(module)(row), module(row), rtol=0.0, atol=2e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_takes_the_matrix_product(dtype: torch.dtype) -> None:
    module, x = _module(dtype), torch.randn(1, 11).to(dtype)
    assert MatVec.from_module(module).every_column is None
    assert torch.equal(MatVec.from_module(module)(x), linear(x, module.weight, module.bias))


def test_without_a_bias_nothing_is_added() -> None:
    module, x = _module(), torch.ones(1, 11)
    torch.testing.assert_close(MatVec.from_weight(module.weight)(x), linear(x, module.weight), rtol=0.0, atol=2e-6)
