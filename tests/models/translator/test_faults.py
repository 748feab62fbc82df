"""Faults made on purpose break the run, are located, and stay within one run."""

import pytest
import torch

from attnviz.decoding.numbers.verdict import judge
from attnviz.models.decoding_record import decoding_record
from attnviz.models.translator.faults import NO_FAULTS, Faults
from attnviz.models.translator.stepwise import steps, teacher_forced
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Probe
from tests.each_case import each_case
from tests.models.stepping import TEXT, judged_run, plan_of, run

pytestmark = pytest.mark.computes

BREAKAGES = {
    "no causal mask": ("recomputed", Faults(mask="none"), "decoder_self"),
    "no causal mask, cached": ("cached", Faults(mask="none"), "decoder_self"),
    "causal mask off by one": ("recomputed", Faults(mask="ahead"), "decoder_self"),
    "causal mask off by one, cached": ("cached", Faults(mask="ahead"), "decoder_self"),
    "dropout left on": ("cached", Faults(dropout=0.1, seed=5), "output"),
    "positions restarted": ("cached", Faults(restart_positions=True), "output"),
    "positions restarted, teacher": ("teacher", Faults(restart_positions=True), "output"),
}


@each_case("name", BREAKAGES)
def test_each_breakage_breaks_and_the_place_is_named(tiny: Translator, name: str) -> None:
    way, faults, part = BREAKAGES[name]
    found = judged_run(tiny, way, faults=faults)
    first = found.first_break
    assert not found.holds
    assert first is not None
    assert first.line.quantity == part
    assert first.position == (1 if faults.restart_positions else 0)
    assert first.share > 10


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_breaks_what_float32_promises(tiny: Translator, dtype: torch.dtype) -> None:
    """Decoded in a coarser type than it was trained in; in the coarse type alone it is within that type's tolerance."""
    coarse = tiny.copy_in_dtype(dtype)
    made = decoding_record(steps(coarse, TEXT, plan_of(coarse, "cached")))

    def fine_pass(probe: Probe | None) -> Trace:
        return teacher_forced(tiny, TEXT, made.ids, to="fr", probe=probe)

    found = judge(made, fine_pass)
    assert found.dtype == "float32"
    assert not found.holds
    assert found.closest_place.share > 10
    assert judge(made, fine_pass, dtype=made.dtype).holds, "rounding to the coarse type explains all of it"
    alone = judge(made, lambda probe: teacher_forced(coarse, TEXT, made.ids, to="fr", probe=probe))
    assert alone.dtype == made.dtype == str(dtype).removeprefix("torch.")
    assert alone.holds


def test_nothing_that_is_broken_stays_in_the_shared_model(tiny: Translator) -> None:
    before = {name: weight.clone() for name, weight in tiny.model.state_dict().items()}
    expected = tiny.trace(TEXT, to="fr").logits
    for way, faults, _ in BREAKAGES.values():
        run(tiny, way, faults=faults)
    tiny.copy_in_dtype(torch.float16)
    assert not any(module.training for module in tiny.model.modules())
    assert all(torch.equal(weight, before[name]) for name, weight in tiny.model.state_dict().items())
    assert torch.equal(tiny.trace(TEXT, to="fr").logits, expected)


def test_restarting_positions_without_a_cache_changes_nothing(tiny: Translator) -> None:
    assert judged_run(tiny, "recomputed", faults=Faults(restart_positions=True)).holds


def test_dropout_is_repeatable_by_its_seed(tiny: Translator) -> None:
    logits = [run(tiny, "cached", faults=Faults(dropout=0.2, seed=seed))[0].logits for seed in (1, 1, 2)]
    assert torch.equal(logits[0], logits[1])
    assert not torch.equal(logits[0], logits[2])


@pytest.mark.parametrize("wrong", [{"mask": "half"}, {"dropout": 1.0}, {"dropout": -0.1}])
def test_a_breakage_that_there_is_not_is_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"not (1\.0|-0\.1|'half')"):
        Faults(**wrong)
    assert Faults() == NO_FAULTS
