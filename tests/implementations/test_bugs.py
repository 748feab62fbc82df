"""The cabinet of bugs: each does what it is declared to do, and both its own test and the reference checks catch it."""

import pytest
import torch

from attnviz.implementations.bugs.bug import Bug, right
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.bugs.kept_map import two_visitors
from attnviz.implementations.case import Case, own_case
from attnviz.implementations.steps import RIGHT, SteppedAttention
from attnviz.implementations.ways import WAYS
from attnviz.implementations.weights import SiteWeights
from tests.implementations.reference_checks import (
    CHECKS,
    outputs_equal_pytorch,
    rows_without_keys_are_finite_or_refused,
    weights_equal_pytorch,
)

FEWEST = 15
RAISED = (TypeError, RuntimeError, ValueError)
NAN_WITHOUT_KEYS = {"per_head", "sequence_first", "single", "torch_module"}  # minus infinity, and they say so


def case_of(bug: Bug) -> Case:
    return (bug.own or own_case)()


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_does_what_it_declares(name: str) -> None:
    bug = BUGS[name]
    case = case_of(bug)
    if bug.declared == "raises":
        with pytest.raises(RAISED):
            bug.attention(case)(*case.call)
    else:
        output, attn = bug.attention(case)(*case.call)
        expected_output, expected_attn = right(case)(*case.call)
        assert output.shape == expected_output.shape, "a silent bug passes a shape check"
        assert attn is not None
        assert expected_attn is not None
        assert attn.shape == expected_attn.shape


@pytest.mark.parametrize("name", [name for name, bug in BUGS.items() if bug.declared == "silent" and bug.step])
def test_a_silent_bug_changes_the_output_or_the_map(name: str) -> None:
    case = case_of(BUGS[name])
    wrong, fine = BUGS[name].attention(case)(*case.call), right(case)(*case.call)
    assert any(not torch.allclose(one, other, atol=1e-3) for one, other in zip(wrong, fine, strict=True))


def caught(bug: Bug, case: Case) -> bool:
    try:
        return not bug.catch(bug.attention(case), case)
    except RAISED:
        return True


@pytest.mark.parametrize("name", BUGS)
def test_its_own_line_catches_it_and_lets_the_right_one_pass(name: str) -> None:
    case = case_of(BUGS[name])
    assert BUGS[name].catch(right(case), case)
    assert caught(BUGS[name], case)


def make_of(bug: Bug):
    """The bug as something that the reference checks can make, with dropout on where the bug is about dropout."""
    rate = case_of(bug).drop

    def make(weights: SiteWeights):
        case = Case(weights, torch.empty(0), torch.empty(0), drop=rate)
        return bug.attention(case)

    return make


@pytest.mark.parametrize("name", BUGS)
def test_the_reference_checks_catch_every_bug(name: str) -> None:
    make, failed = make_of(BUGS[name]), []
    for check in CHECKS:
        try:
            check(make)
        except (AssertionError, *RAISED):
            failed.append(check.__name__)
    assert failed


def test_weights_after_dropout_are_caught_by_the_weights_alone() -> None:
    make = make_of(BUGS["reported_after_dropout"])
    with pytest.raises(AssertionError):
        weights_equal_pytorch(make)
    weights_equal_pytorch(lambda weights: right(Case(weights, torch.empty(0), torch.empty(0), drop=0.3)))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", [*WAYS, "stepped"])
def test_every_right_attention_passes_the_reference_checks(name: str, check) -> None:
    make = (lambda weights: SteppedAttention(weights, RIGHT)) if name == "stepped" else WAYS[name].make
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
    case = own_case()
    visits = two_visitors(BUGS["kept_map"].attention(case), (case.input_[:1], case.input_[:1, :3]), rounds=10)
    assert visits.maps == 20
    assert visits.wrong >= 5, "whoever comes second overwrites the first one's map"
    assert visits.example is not None
    assert two_visitors(right(case), (case.input_[:1], case.input_[:1, :3]), rounds=10).wrong == 0


def test_all_that_the_cabinet_should_hold_is_there() -> None:
    assert len(BUGS) >= FEWEST
    assert {bug.declared for bug in BUGS.values()} == {"raises", "silent"}
    for bug in BUGS.values():
        wrong, fine = bug.sources
        assert wrong != fine
        assert "return" in bug.test
