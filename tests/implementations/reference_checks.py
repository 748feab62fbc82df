"""The reference checks: what every attention must pass. Each takes `make(weights) -> attention` and asserts."""

from collections.abc import Callable

import torch

from attnviz.implementations.bugs.wrong_steps import two_visitors
from attnviz.implementations.weights import Attention, SiteWeights
from tests.implementations.cases import UNEQUAL, WEIGHTS, cases, reference

Make = Callable[[SiteWeights], Attention]


def outputs_equal_pytorch(make: Make) -> None:
    for case in cases():
        output, _ = make(case.weights)(case.input_, case.memory, case.mask)
        torch.testing.assert_close(output, reference(case)[0], rtol=0, atol=1e-5, msg=f"output: {case.name}")


def weights_equal_pytorch(make: Make) -> None:
    for case in cases():
        _, attn = make(case.weights)(case.input_, case.memory, case.mask)
        if attn is not None:
            torch.testing.assert_close(attn, reference(case)[1], rtol=0, atol=1e-5, msg=f"weights: {case.name}")


def sizes_of_their_own_work_or_are_refused(make: Make) -> None:
    """Try d_model 17, 3 heads, d_k 11, d_v 13; an attention may refuse them when it is made, not later."""
    try:
        attend = make(UNEQUAL)
    except ValueError:
        return
    for case in cases(UNEQUAL):
        output, _ = attend(case.input_, case.memory, case.mask)
        torch.testing.assert_close(output, reference(case)[0], rtol=0, atol=1e-5, msg=f"sizes: {case.name}")


def rows_without_keys_are_finite_or_refused(make: Make) -> None:
    """Zeros, equal weights: both are answers. NaN is one only where the class says so (nn.MultiheadAttention)."""
    x = torch.randn(2, 5, WEIGHTS.d_model)
    mask = torch.ones(2, 5, 5, dtype=torch.bool)
    mask[1, 3] = False
    output, _ = make(WEIGHTS)(x, x, mask)
    assert output[mask.any(-1)].isfinite().all()
    assert output.isfinite().all()


def steps_equal_one_pass(make: Make) -> None:
    """Decode a causal text one row a step, with all keys so far, against PyTorch's pass over the whole text."""
    case = next(case for case in cases() if case.name == "self, causal")
    attend = make(case.weights)
    for at in range(case.input_.shape[1]):
        seen = torch.ones(1, 1, at + 1, dtype=torch.bool)
        step, _ = attend(case.input_[:, at : at + 1], case.memory[:, : at + 1], seen)
        torch.testing.assert_close(step, reference(case)[0][:, at : at + 1], rtol=0, atol=1e-5, msg=f"step {at}")


def two_threads_get_what_each_gets_alone(make: Make) -> None:
    inputs = [torch.randn(1, length, WEIGHTS.d_model) for length in (5, 7)]
    visits = two_visitors(make(WEIGHTS), inputs, rounds=10)
    assert visits.wrong == 0, f"{visits.wrong} of {visits.maps} maps were somebody else's"


CHECKS = (
    outputs_equal_pytorch,
    weights_equal_pytorch,
    sizes_of_their_own_work_or_are_refused,
    rows_without_keys_are_finite_or_refused,
    steps_equal_one_pass,
    two_threads_get_what_each_gets_alone,
)
