"""The tolerance follows what rounding does to a pass: it never accuses an intact model, and never excuses a broken one.

`HYPOTHESIS_PROFILE=thorough` draws 200 intact models instead of a handful.
"""

import os
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from attnviz.decoding.numbers.tolerance import tolerance
from attnviz.decoding.numbers.verdict import Verdict, judge, verdict
from attnviz.models.decoding_record import decoding_record
from attnviz.models.huggingface.model import HuggingFaceModel
from attnviz.models.huggingface.network.network import cache_argument
from attnviz.models.translator.faults import Faults, LooseMask
from attnviz.models.translator.stepwise import Plan, steps, teacher_forced
from attnviz.models.translator.translator import Translator
from attnviz.tracing.interventions import Chain
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Probe, Site
from tests.decoding.numbers.deep_models import Case, checkpoint, continue_prompt, translator
from tests.each_case import each_case

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
RUNS = 200 if THOROUGH else 4
SINK = 22_552.0  # the largest number in SmolLM2-135M, at its first token


def judge_checkpoint(model: HuggingFaceModel, case: Case, broken: Probe | None = None) -> Verdict:
    """Return steps of the intact model against one pass, which `broken` changes."""
    made, trace = continue_prompt(model, case)
    return judge(made, lambda probe: model.rerun(trace, chain(broken, probe)))


def chain(*probes: Probe | None) -> Chain:
    return Chain([probe for probe in probes if probe is not None])


def judge_translator(model: Translator, case: Case) -> Verdict:
    made = decoding_record(steps(model, case.text, Plan("fr", cached=case.cached, max_tokens=12)))
    return judge(made, lambda probe: teacher_forced(model, case.text, made.ids, to="fr", probe=probe))


@pytest.mark.parametrize("seed", range(RUNS))
def test_an_intact_checkpoint_is_never_accused(seed: int, tmp_path: Path) -> None:
    case = Case.draw(seed)
    found = judge_checkpoint(checkpoint(case, tmp_path), case)
    assert found.holds, (case, found.first_break)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("seed", range(RUNS // 4))
def test_an_intact_translator_is_never_accused(seed: int, dtype: str) -> None:
    sink = 22_552.0 if dtype != "float16" else 100.0  # the squares of a layer norm are to stay numbers
    case = replace(Case.draw(seed, dtype), sink=sink)
    found = judge_translator(translator(case), case)
    assert found.holds, (case, found.first_break)


@pytest.mark.parametrize("seed", range(RUNS // 4))
def test_an_intact_checkpoint_in_half_precision_is_never_accused(seed: int, tmp_path: Path) -> None:
    case = Case.draw(seed, "bfloat16")
    found = judge_checkpoint(checkpoint(case, tmp_path), case)
    assert found.holds, (case, found.first_break)


DEEP = Case("llama", 30 if THOROUGH else 16, 0.05, SINK, "the old man has a big red dog", seed=5)
BROKEN = [DEEP, replace(DEEP, family="gpt2", depth=12, seed=6)]
if THOROUGH:
    BROKEN.append(replace(DEEP, depth=48, scale=0.02, seed=7))


@pytest.fixture(scope="module", params=BROKEN, ids=lambda case: f"{case.family}-{case.depth}")
def deep(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[HuggingFaceModel, Case]:
    return checkpoint(request.param, tmp_path_factory.mktemp("deep") / "model"), request.param


def test_a_difference_beside_the_sink_is_no_part_of_it(deep) -> None:
    """A quarter, where the largest number of all positions would have allowed 0.23."""
    model, case = deep
    made, trace = continue_prompt(model, case)
    whole = model.rerun(trace)
    allowed = tolerance(whole, lambda probe: model.rerun(trace, probe))
    for layer in (0, case.depth // 2, case.depth - 1):
        hidden = made.hidden["decoder"].clone()
        hidden[layer + 1, 4, 7] += 0.25
        first = verdict(replace(made, hidden={"decoder": hidden}), whole, allowed).first_break
        assert first is not None
        assert (first.line.name, first.position) == (f"L{layer} output", 4)
    at_sink, beside = allowed.hidden["decoder", case.depth - 1][[0, 4]].tolist()
    assert at_sink > 0.01
    assert beside < 1e-4


def test_the_tolerance_bounds_the_pass_held_against_itself_in_float64(deep) -> None:
    """What rounding has really done to the pass lies within it, and not far below."""
    model, case = deep
    _, trace = continue_prompt(model, case)
    whole = model.rerun(trace)
    allowed = tolerance(whole, lambda probe: model.rerun(trace, probe))
    with double_precision(model):
        exact = model.rerun(trace)
    for stack, layer in whole.layers:
        # Of the pass in float64 the numbers themselves, not rounded again.
        error = (exact.layers[stack, layer][0] - whole.layers[stack, layer][0].double()).abs().amax(dim=-1)
        share = error / allowed.hidden[stack, layer]
        assert float(share.max()) < 1
        assert float(share.max()) > 1e-3 or layer < 0


@contextmanager
def double_precision(model: HuggingFaceModel):
    model.network.to(torch.device("cpu"), torch.float64)
    yield
    model.network.to(torch.device("cpu"), torch.float32)


@each_case("ahead", [None, 1])
def test_a_mask_that_lets_rows_look_ahead_is_caught(deep, ahead: int | None) -> None:
    model, case = deep
    assert not judge_checkpoint(model, case, LooseMask(ahead)).holds


@dataclass(frozen=True)
class Swapped(Probe):
    """Heads 0 and 1 of one layer in each other's place: their queries, or what they gathered."""

    layer: int
    part: str

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        if self.part == "context" or site.layer != self.layer:
            return call
        return replace(call, query=swap_heads(call.query))

    def on_context(self, site: Site, context: Tensor) -> Tensor:
        return swap_heads(context) if self.part == "context" and site.layer == self.layer else context


def swap_heads(heads: Tensor) -> Tensor:
    return torch.cat((heads[:, [1, 0]], heads[:, 2:]), dim=1)


@dataclass
class Peeking(LooseMask):
    """A mask that is off by one in a single layer."""

    layer: int = 0

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        return super().on_call(site, call) if site.layer == self.layer else call


@each_case("share", [0.0, 0.5, 1.0])
def test_one_layer_that_is_wrong_is_caught_there(deep, share: float) -> None:
    model, case = deep
    layer = round(share * (case.depth - 1))
    for broken, part in (
        (Peeking(1, layer), "decoder_self"),
        (Swapped(layer, "query"), "decoder_self"),
        (Swapped(layer, "context"), "output"),
    ):
        found = judge_checkpoint(model, case, broken)
        first = found.first_break
        assert first is not None, broken
        assert first.line.quantity == part
        assert first.line.layer == layer
        assert found.closest_place.share > 1000


def test_a_token_at_a_wrong_position_is_caught(deep, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that counts one too many passes the next position to a step on the cache."""
    model, case = deep
    _, trace = continue_prompt(model, case)
    forward, wrong, name = model.network.model.forward, 3, cache_argument(model.network.model)

    def shift_positions(*args, **options):
        cache = options.get(name)
        if cache is not None:
            at = cache.get_seq_length()
            options["position_ids"] = torch.tensor([[at + (at == wrong)]])
        return forward(*args, **options)

    monkeypatch.setattr(model.network.model, "forward", shift_positions)
    tokens = [token.id for token in trace.sentences[0].tgt_in]
    made = decoding_record(model.stepwise(case.text, tgt_in=tokens))
    monkeypatch.undo()
    sentence = replace(trace.sentences[0], tgt=(*made.fed, made.chosen[-1]))
    again = replace(trace, sentences=(sentence,))
    first = judge(made, lambda probe: model.rerun(again, probe)).first_break
    assert first is not None
    assert first.position == wrong


_BREAKAGES = (Faults(mask="ahead"), Faults(mask="none"), Faults(restart_positions=True))


@each_case(
    ("depth", "faults"),
    # The deepest are slow.
    [*((depth, faults) for depth in (2, 12) for faults in _BREAKAGES), *([(48, _BREAKAGES[0])] if THOROUGH else [])],
)
def test_a_broken_translator_is_caught_however_deep(depth: int, faults: Faults) -> None:
    case = replace(DEEP, depth=depth)
    model = translator(case)
    made = decoding_record(steps(model, case.text, Plan("fr", max_tokens=12, faults=replace(faults, mask="causal"))))
    intact = replace(faults, restart_positions=False)

    def one_pass(probe: Probe | None) -> Trace:
        return teacher_forced(model, case.text, made.ids, to="fr", faults=intact, probe=probe)

    assert not judge(made, one_pass).holds


def test_what_rows_may_part_by_follows_their_scores(deep) -> None:
    """By hand: an even pair of weights whose scores move by δ each moves by tanh(δ) / 2; a lone key by nothing."""
    model, case = deep
    _, trace = continue_prompt(model, case)
    whole = model.rerun(trace)
    allowed = tolerance(whole, lambda probe: model.rerun(trace, probe))
    site = Site("decoder_self", 0)
    moved = replace(allowed, scores={site: torch.tensor([[0.1, 0.1]])})
    weights = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    assert moved.weight_tolerance(site, weights)[0].tolist() == pytest.approx([0.0, 0.0498340], abs=1e-6)


def test_infinity_and_not_a_number_allow_nothing(deep) -> None:
    model, case = deep
    _, trace = continue_prompt(model, case)
    whole = model.rerun(trace)
    assert whole.logits is not None
    damaged = replace(whole, logits=whole.logits * torch.inf)
    assert tolerance(damaged, lambda probe: damaged).logits.tolist() == [0.0] * len(whole.logits[0])
