"""Seven ways to write it, one result."""

from itertools import combinations

import pytest
import torch

from attnviz.implementations.ways import WAYS
from attnviz.implementations.weights import SiteWeights
from attnviz.transformer.attention import MultiHeadAttention
from tests.each_case import each_case
from tests.implementations.cases import D_K, HEADS, UNEQUAL, WEIGHTS, Case, cases, reference

WITHOUT_EQUAL_SIZES = ("annotated", "per_head", "sequence_first", "single", "torch_fused")


def test_every_way_equals_every_other(case: Case) -> None:
    results = {name: way.make(case.weights)(case.input_, case.memory, case.mask) for name, way in WAYS.items()}
    for one, other in combinations(results, 2):
        torch.testing.assert_close(results[one][0], results[other][0], rtol=0, atol=1e-5, msg=f"{one} and {other}")
        if results[one][1] is not None and results[other][1] is not None:
            torch.testing.assert_close(results[one][1], results[other][1], rtol=0, atol=1e-5)


@each_case("name", WAYS)
def test_every_way_equals_pytorchs_kernel(name: str) -> None:
    for case in cases():
        require_pytorchs_answer(name, case)


@each_case("name", WITHOUT_EQUAL_SIZES)
def test_values_may_have_a_size_of_their_own(name: str) -> None:
    for case in cases(UNEQUAL):
        require_pytorchs_answer(name, case)


def require_pytorchs_answer(name: str, case: Case) -> None:
    output, attn = WAYS[name].make(case.weights)(case.input_, case.memory, case.mask)
    expected_output, expected_attn = reference(case)
    torch.testing.assert_close(output, expected_output, rtol=0, atol=1e-5, msg=lambda said: f"{case.name}: {said}")
    if name == "torch_fused":
        assert attn is None
    else:
        torch.testing.assert_close(attn, expected_attn, rtol=0, atol=1e-5, msg=lambda said: f"{case.name}: {said}")


@pytest.mark.parametrize("name", sorted(set(WAYS) - set(WITHOUT_EQUAL_SIZES)))
def test_sizes_that_a_way_cannot_have_are_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(ValueError, match="d_v"):
        WAYS[name].make(UNEQUAL)


@each_case("name", WAYS)
def test_the_slices_say_where_a_heads_weights_are(name: str) -> None:
    way, made = WAYS[name], WAYS[name].make(WEIGHTS)
    for head in range(HEADS):
        rows = slice(head * D_K, (head + 1) * D_K)
        expected = {
            "Q": WEIGHTS.W_q[rows].T,
            "K": WEIGHTS.W_k[rows].T,
            "V": WEIGHTS.W_v[rows].T,
            "O": WEIGHTS.W_o[:, rows].T,
        }
        if name == "single":
            expected["V"] = expected["V"] @ expected.pop("O")
        for role, tensor in expected.items():
            found = eval(f"made.{way.slice_of(role, head, WEIGHTS)}", {"made": made})
            assert torch.equal(found, tensor), (role, head)


def test_the_weights_of_a_site_are_the_models_own_tensors() -> None:
    module = MultiHeadAttention(10, 2, 3)
    weights = SiteWeights.from_module(module)
    assert (weights.n_heads, weights.d_model, weights.d_k, weights.d_v) == (2, 10, 3, 3)
    assert weights.W_o.data_ptr() == module.W_o.weight.data_ptr()


@each_case("name", WAYS)
def test_the_source_can_be_read(name: str) -> None:
    assert "def " in WAYS[name].source()
