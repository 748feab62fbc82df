"""The cabinet of bugs: each does what it is declared to do, and both its own test and the reference checks catch it."""

from dataclasses import replace

import pytest
import torch

from attnviz.implementations.bugs.bug import Bug, right_attention
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.bugs.wrong_steps import two_visitors
from attnviz.implementations.site_inputs import SiteInputs, odd_sized_inputs
from attnviz.implementations.steps import RIGHT, SteppedAttention
from attnviz.implementations.ways import WAYS
from attnviz.implementations.weights import SiteWeights
from tests.each_case import each_case
from tests.implementations.reference_checks import (
    CHECKS,
    outputs_equal_pytorch,
    rows_without_keys_are_finite_or_refused,
    weights_equal_pytorch,
)

FEWEST = 22
RAISED = (TypeError, RuntimeError, ValueError)
NAN_WITHOUT_KEYS = {"per_head", "sequence_first", "single", "torch_module"}  # minus infinity, and they say so


def case_of(bug: Bug) -> SiteInputs:
    return bug.test_inputs


@each_case("name", BUGS)
def test_a_bug_does_what_it_declares(name: str) -> None:
    bug = BUGS[name]
    inputs = case_of(bug)
    if bug.declared == "raises":
        with pytest.raises(RAISED):
            bug.attention(inputs)(*inputs.call)
    else:
        output, attn = bug.attention(inputs)(*inputs.call)
        expected_output, expected_attn = right_attention(inputs)(*inputs.call)
        assert output.shape == expected_output.shape, "a silent bug passes a shape check"
        assert attn is not None
        assert expected_attn is not None
        assert attn.shape == expected_attn.shape


@each_case("name", [name for name, bug in BUGS.items() if bug.declared == "silent" and bug.step])
def test_a_silent_bug_changes_the_output_or_the_map(name: str) -> None:
    inputs = case_of(BUGS[name])
    wrong, fine = BUGS[name].attention(inputs)(*inputs.call), right_attention(inputs)(*inputs.call)
    assert any(not torch.allclose(one, other, atol=1e-3) for one, other in zip(wrong, fine, strict=True))


def is_caught(bug: Bug, inputs: SiteInputs) -> bool:
    try:
        return not bug.catch(bug.attention(inputs), inputs)
    except RAISED:
        return True


@each_case("name", BUGS)
def test_its_own_line_catches_it_and_lets_the_right_one_pass(name: str) -> None:
    inputs = case_of(BUGS[name])
    assert BUGS[name].catch(right_attention(inputs), inputs)
    assert is_caught(BUGS[name], inputs)


def make_of(bug: Bug):
    """Return a function that makes the bug for the reference checks, with dropout on where the bug is about dropout."""
    trial = case_of(bug)

    def make(weights: SiteWeights):
        inputs = SiteInputs(weights, torch.empty(0), torch.empty(0), drop=trial.drop, off=trial.off)
        return bug.attention(inputs)

    return make


# With a head off, the right attention is not PyTorch's either: see below.
@each_case("name", [name for name, bug in BUGS.items() if not bug.ablates])
def test_the_reference_checks_catch_every_bug(name: str) -> None:
    make, failed = make_of(BUGS[name]), []
    for check in CHECKS:
        try:
            check(make)
        except (AssertionError, *RAISED):
            failed.append(check.__name__)
    assert failed
    assert (failed == ["steps_equal_one_pass"]) == (name == "causal_at_top_left"), "no other check notices this bug"


def test_a_padding_mask_on_the_queries_is_uniform_or_nan_by_its_fill() -> None:
    inputs = case_of(BUGS["padding_on_queries"])
    filled, infinite = (BUGS[f"padding_on_queries{end}"].attention(inputs)(*inputs.call) for end in ("", "_infinite"))
    padded = ~inputs.mask[:, 0]
    assert torch.equal(infinite[0].isnan().any(dim=-1), padded)
    torch.testing.assert_close(filled[1][1][:, -2:], torch.full((3, 2, 5), 0.2))


def test_softmax_taken_twice_is_nearly_uniform() -> None:
    inputs = replace(odd_sized_inputs(), mask=None)
    attn = BUGS["softmax_twice"].attention(inputs)(*inputs.call)[1]
    assert float((attn.amax(dim=-1) / attn.amin(dim=-1)).max()) < torch.e
    torch.testing.assert_close(attn.sum(dim=-1), torch.ones(2, 3, 5))


@pytest.mark.parametrize("head", range(3))
def test_a_head_is_off_where_w_o_reads_nothing_of_it_and_not_where_the_output_is_cut(head: int) -> None:
    """Against PyTorch's own multi-head attention, whose output projection reads nothing of that head."""
    bug, inputs = BUGS["ablation_after_output"], odd_sized_inputs()
    inputs = replace(inputs, weights=SiteWeights.random(3, 39, d_k=13, seed=4), input_=torch.randn(2, 5, 39), off=head)
    inputs = replace(inputs, memory=inputs.input_)
    module = torch.nn.MultiheadAttention(39, 3, batch_first=True)
    weights = inputs.with_head_ignored().weights
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat((weights.W_q, weights.W_k, weights.W_v)))
        module.in_proj_bias.copy_(torch.cat((weights.b_q, weights.b_k, weights.b_v)))
        module.out_proj.weight.copy_(weights.W_o)
        module.out_proj.bias.copy_(weights.b_o)
        expected, _ = module(*[inputs.input_] * 3, attn_mask=~inputs.mask[0])
    torch.testing.assert_close(right_attention(inputs)(*inputs.call)[0], expected, atol=1e-5, rtol=0)
    assert float((bug.attention(inputs)(*inputs.call)[0] - expected).abs().max()) > 0.1
    assert bug.catch(right_attention(inputs), inputs)
    assert is_caught(bug, inputs)


def test_weights_after_dropout_are_caught_by_the_weights_alone() -> None:
    make = make_of(BUGS["reported_after_dropout"])
    with pytest.raises(AssertionError):
        weights_equal_pytorch(make)
    weights_equal_pytorch(
        lambda weights: right_attention(SiteInputs(weights, torch.empty(0), torch.empty(0), drop=0.3))
    )


@each_case("name", [*WAYS, "stepped"])
def test_every_right_attention_passes_the_reference_checks(name: str) -> None:
    make = (lambda weights: SteppedAttention(weights, RIGHT)) if name == "stepped" else WAYS[name].make
    for check in CHECKS:
        if check is rows_without_keys_are_finite_or_refused and name in NAN_WITHOUT_KEYS:
            with pytest.raises(AssertionError):
                check(make)
        else:
            check(make)


def test_without_bias_an_output_is_wrong_too() -> None:
    """The checks see a bias that is left out: sizes alone would not tell."""
    with pytest.raises(AssertionError):
        outputs_equal_pytorch(
            lambda weights: SteppedAttention(SiteWeights(**(vars(weights) | {"b_o": torch.zeros_like(weights.b_o)})))
        )


def test_nearly_every_shared_map_is_read_by_both() -> None:
    inputs = odd_sized_inputs()
    visits = two_visitors(BUGS["kept_map"].attention(inputs), (inputs.input_[:1], inputs.input_[:1, :3]), rounds=10)
    assert visits.maps == 20
    assert visits.wrong >= 5, "whoever comes second overwrites the first one's map"
    assert visits.example is not None
    assert two_visitors(right_attention(inputs), (inputs.input_[:1], inputs.input_[:1, :3]), rounds=10).wrong == 0


def test_all_that_the_cabinet_should_hold_is_there() -> None:
    assert len(BUGS) >= FEWEST
    assert {bug.declared for bug in BUGS.values()} == {"raises", "silent"}
    for bug in BUGS.values():
        wrong, fine = bug.sources
        assert wrong != fine
        assert "return" in bug.test_source
