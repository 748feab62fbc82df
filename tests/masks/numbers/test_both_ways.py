"""A mask between target positions, met by writing step by step and by one pass: only the pass has a future to see."""

import math

import pytest
import torch

from attnviz.analysis.fills import FillChoice, Weighing
from attnviz.analysis.mask_spec import MaskSpec
from attnviz.analysis.rerun import batch_of_two
from attnviz.masks.numbers import effect as masks_effect
from attnviz.masks.numbers.both_ways import both_ways, count_changed_rows, reads_ahead, run_up_to, up_to
from attnviz.models.huggingface import load
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.probe import Site
from tests.each_case import each_case
from tests.models.huggingface import checkpoints

KINDS = ("encoder_self", "decoder_self", "cross")


@pytest.fixture(scope="module")
def model():
    return tiny_translator(n_heads=3, n_layers=2)


@pytest.fixture(scope="module")
def trace(model):
    return model.trace("machine learning is fun", to="fr", tgt_text="je t'aime un chien")


@pytest.fixture(scope="module", params=["gpt2", "llama", "marian", "t5"])
def other(request, tmp_path_factory):
    folder = checkpoints.save(tmp_path_factory.mktemp("hf"), checkpoints.ALL[request.param])
    return load(folder, device=torch.device("cpu"), dtype=torch.float32)


def probe(kind: str, rules: dict, *, fill: str = "fused", layers: tuple[int, ...] = (0, 1)) -> MaskOverride:
    sites = [Site(kind, layer) for layer in layers]  # type: ignore[arg-type]
    return MaskOverride(sites, MaskSpec(rules).build, weigh=None if fill == "fused" else Weighing(FillChoice(fill)))


def compare_both_ways(model, trace, mask: MaskOverride, step: int):
    return both_ways(model, masks_effect.effect(model, trace, mask), run_up_to(model, trace, mask, step))


def test_what_stands_up_to_a_step_is_what_writing_has_read_by_then(trace) -> None:
    ins = trace.sentences[0].tgt_in
    for step in range(len(ins)):
        assert up_to(trace, step).sentences[0].tgt_in == ins[: step + 1]


@pytest.mark.parametrize("step", [0, 2, 4])
def test_step_by_step_is_what_the_stepper_computes(model, trace, step: int) -> None:
    mask = probe("decoder_self", {})
    ids = torch.tensor([[token.id for token in trace.sentences[0].tgt_in[: step + 1]]])
    stepper = model.generator(trace, mask, cached=False).stepper
    stepped = stepper.step(ids, probe=mask.start_at(0))[0]
    logits = run_up_to(model, trace, mask, step).logits
    assert logits is not None
    torch.testing.assert_close(logits[0, step], stepped, atol=1e-5, rtol=0)


def test_with_the_models_own_masks_both_ways_are_the_same(model, trace) -> None:
    for step in range(len(trace.sentences[0].tgt_in)):
        alone = model.rerun(up_to(trace, step)).logits
        torch.testing.assert_close(alone[0, step], trace.logits[0, step], atol=1e-5, rtol=0)


@each_case("kind", KINDS)
@each_case("rules", [{"causal": ()}, {"causal": (), "window": (1,)}, {"block": (2,), "causal": ()}])
def test_both_ways_agree_where_nothing_behind_a_position_reaches_it(model, trace, kind: str, rules: dict) -> None:
    for step in range(len(trace.sentences[0].tgt_in)):
        one = compare_both_ways(model, trace, probe(kind, rules), step)
        assert not one.reads_ahead
        assert one.apart < 1e-5
        assert [token.id for token, _ in one.step_by_step] == [token.id for token, _ in one.one_pass]


@each_case(
    ("rules", "fill"),
    [({}, "fused"), ({"window": (2,)}, "-inf"), ({"wait-k": (2,)}, "-inf"), ({"causal": ()}, "zero before")],
)
def test_both_ways_part_where_the_pass_reads_ahead(model, trace, rules: dict, fill: str) -> None:
    one = compare_both_ways(model, trace, probe("decoder_self", rules, fill=fill), 1)
    assert one.reads_ahead
    assert one.apart > 1e-4
    last = len(trace.sentences[0].tgt_in) - 1
    assert compare_both_ways(model, trace, probe("decoder_self", rules, fill=fill), last).apart < 1e-5, (
        "nothing comes after the last"
    )


def test_the_last_layer_alone_without_its_mask_writes_as_it_did_to_the_last_digits(model, trace) -> None:
    """The row that chooses sees what it saw; only rows that no later layer reads are others."""
    mask = probe("decoder_self", {}, layers=(1,))
    one = compare_both_ways(model, trace, mask, 2)
    for (token, chance), (same, before) in zip(one.step_by_step, one.before, strict=True):
        assert token == same
        assert chance == pytest.approx(before, abs=1e-6)
    assert one.apart > 1e-4


@pytest.mark.parametrize("item", [0, 1])
def test_each_sentence_of_a_batch_is_compared_without_its_padding(model, trace, item: int) -> None:
    both = batch_of_two(model, trace, model.trace("I love you", to="fr", tgt_text="je"))
    effect = masks_effect.effect(model, both, probe("decoder_self", {}))
    real = len([token for token in both.query_tokens("decoder_self", item) if not model.is_pad(token)])
    assert count_changed_rows(model, effect, item=item).positions == real


def test_positions_that_are_nan_are_counted_as_nan_and_not_as_changed(model, trace) -> None:
    def row_two_sees_nothing(q_len: int, k_len: int) -> torch.Tensor:
        seen = torch.ones(1, q_len, k_len, dtype=torch.bool).tril()
        seen[:, 2:3] = False
        return seen

    mask = MaskOverride([Site("decoder_self", 0)], row_two_sees_nothing, weigh=Weighing(FillChoice("-inf")))
    effect = masks_effect.effect(model, trace, mask)
    positions = len(trace.sentences[0].tgt_in)
    assert (count_changed_rows(model, effect).nan, count_changed_rows(model, effect).other) == (positions, 0), (
        "0 × NaN is NaN"
    )
    for step, empty in ((1, False), (3, True)):
        one = both_ways(model, effect, run_up_to(model, trace, mask, step))
        assert one.one_pass == []
        assert math.isnan(one.apart)
        assert (one.step_by_step == []) == empty, "what is not written yet harms nobody"


def test_a_checkpoint_of_somebody_elses_is_compared_the_same_way(other) -> None:
    pair = other.inputs.takes_target
    trace = (
        other.trace("the cat sat", tgt_text="a dog ran off") if pair else other.trace("the cat sat on", new_tokens=2)
    )
    layers = tuple(range(trace.shape("decoder_self")[0]))
    for rules, ahead in (({"causal": ()}, False), ({}, True)):
        mask = probe("decoder_self", rules, layers=layers)
        one = compare_both_ways(other, trace, mask, 1)
        assert one.reads_ahead == ahead == reads_ahead(masks_effect.effect(other, trace, mask).after)
        assert (one.apart > 1e-5) == ahead
