"""Steps and the one pass compute the same numbers, in every way of stepping; and what is broken on purpose does not."""

from dataclasses import replace

import pytest
import torch

from attnviz.analysis.verdict import Tolerance, verdict
from attnviz.models import catalogue
from attnviz.models.breakage import INTACT, Breakage
from attnviz.models.stepped import Stepped, newest_row, stacked, stepped
from attnviz.models.stepwise import Plan, RecordedSteps, steps, teacher_forced
from attnviz.models.tiny import tiny_translator
from attnviz.models.translator import Translator
from attnviz.text.limits import TextError
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.trace import RunInfo, Sentence, Trace
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Sampling, Stepper, decode_steps
from attnviz.transformer.layers import Run

TEXT, TARGET = "A big red dog jumped over a small pond.", "un chien rouge a sauté"
WAYS = ("cached", "recomputed", "teacher")


@pytest.fixture(scope="module")
def tiny() -> Translator:
    return tiny_translator(seed=3)


@pytest.fixture(scope="module")
def shipped() -> Translator:
    if not catalogue.entries():
        pytest.skip("no checkpoint is shipped in assets/models")
    return catalogue.translator(device="cpu", dtype="float32")


def plan_of(model: Translator, way: str, **options) -> Plan:
    teacher = model.codec.encode_target(TARGET, "fr").ids if way == "teacher" else None
    return Plan("fr", teacher, cached=way != "recomputed", **{"max_tokens": 14, **options})


def run(model: Translator, way: str, **options) -> tuple[Stepped, Trace]:
    plan = plan_of(model, way, **options)
    made = stepped(steps(model, TEXT, plan))
    return made, teacher_forced(model, TEXT, made.ids, to="fr", breakage=plan.breakage)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["tiny", "shipped"])
def test_every_step_is_a_row_of_the_pass(way: str, name: str, request: pytest.FixtureRequest) -> None:
    made, whole = run(request.getfixturevalue(name), way)
    for kind in whole.kinds:
        rows = whole.attn(kind)[:, :, : made.attn[kind].shape[2]]
        torch.testing.assert_close(made.attn[kind], rows, rtol=0, atol=2e-6)
    for stack, hidden in made.hidden.items():
        for layer, output in enumerate(hidden, start=-1):
            expected = whole.layer_output(stack, layer)
            allowed = 1e-5 + 1e-5 * float(expected.abs().max())
            torch.testing.assert_close(output, expected, rtol=0, atol=allowed)
    assert whole.logits is not None
    allowed = 1e-5 + 1e-5 * float(whole.logits.abs().max())
    torch.testing.assert_close(made.logits, whole.logits[0], rtol=0, atol=allowed)
    assert verdict(made, whole).holds


@pytest.mark.parametrize("cached", [True, False])
def test_a_padded_batch_of_two_lengths_steps_as_it_passes(tiny: Translator, cached: bool) -> None:
    """Source and target of the second row are shorter; it leaves the batch when it ends, the first row goes on."""
    src = torch.tensor([[9, 8, 7, 6, 5, 2], [9, 8, 7, 2, 0, 0]])
    tgt = torch.tensor([[3, 11, 12, 13, 14, 15, 2], [3, 21, 22, 2, 0, 0, 0]])
    with torch.inference_mode():
        whole = whole_pass(tiny, src, tgt)
        parts = stepped_batch(tiny, src, tgt, cached=cached)
    assert [len(rows) for rows in parts.values()] == [6, 3]
    for item, rows in parts.items():
        found = verdict(stacked(rows, whole, item), whole, item)
        assert found.holds, found.first_break
        assert found.largest_of("logits") < 1e-5


def whole_pass(model: Translator, src: torch.Tensor, tgt: torch.Tensor) -> Trace:
    recorder, mask = Recorder(), model.model.src_mask(src)
    memory = model.model.encode(src, mask, Run(recorder))
    logits = model.model.logits(model.model.decode(tgt[:, :-1], memory, mask, Run(recorder)))
    return Trace.of(recorder, [Sentence(), Sentence()], memory=memory, logits=logits, info=RunInfo())


def stepped_batch(model: Translator, src: torch.Tensor, tgt: torch.Tensor, *, cached: bool) -> dict[int, list]:
    mask = model.model.src_mask(src)
    stepper = Stepper(model.model, model.model.encode(src, mask), mask, capacity=7, cached=cached)
    watched, rows = RecordedSteps(stepper), {0: [], 1: []}
    for step in decode_steps(watched, tgt[:, 0], model.vocabulary, max_tokens=6, teacher=tgt[:, 1:]):
        sentences = [Sentence() for _ in step.rows]
        assert watched.logits is not None
        trace = Trace.of(watched.recorder, sentences, logits=watched.logits.unsqueeze(1))
        for item, row in enumerate(step.rows):
            rows[row].append(newest_row(trace, item))
    return rows


BREAKAGES = {
    "no causal mask": ("recomputed", Breakage(mask="none"), "decoder_self"),
    "no causal mask, cached": ("cached", Breakage(mask="none"), "decoder_self"),
    "causal mask off by one": ("recomputed", Breakage(mask="ahead"), "decoder_self"),
    "causal mask off by one, cached": ("cached", Breakage(mask="ahead"), "decoder_self"),
    "dropout left on": ("cached", Breakage(dropout=0.1, seed=5), "output"),
    "positions restarted": ("cached", Breakage(restart_positions=True), "output"),
    "positions restarted, teacher": ("teacher", Breakage(restart_positions=True), "output"),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_each_breakage_breaks_and_the_place_is_named(tiny: Translator, name: str) -> None:
    way, breakage, part = BREAKAGES[name]
    made, whole = run(tiny, way, breakage=breakage)
    found = verdict(made, whole)
    first = found.first_break
    assert not found.holds
    assert first is not None
    assert first.line.part == part
    assert first.position == (1 if breakage.restart_positions else 0)
    assert found.largest.delta > 100 * Tolerance.of("float32").attn


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_breaks_what_float32_promises(tiny: Translator, dtype: torch.dtype) -> None:
    """Decoded in a coarser type than it was trained in; in the coarse type alone it is within that type's tolerance."""
    coarse = tiny.in_dtype(dtype)
    made = stepped(steps(coarse, TEXT, plan_of(coarse, "cached")))
    found = verdict(made, teacher_forced(tiny, TEXT, made.ids, to="fr"))
    assert found.dtype == "float32"
    assert not found.holds
    assert found.largest_of("output", "logits") > 10 * found.tolerance.hidden
    alone = verdict(made, teacher_forced(coarse, TEXT, made.ids, to="fr"))
    assert alone.dtype == made.dtype == str(dtype).removeprefix("torch.")
    assert alone.holds


def test_nothing_that_is_broken_stays_in_the_shared_model(tiny: Translator) -> None:
    before = {name: weight.clone() for name, weight in tiny.model.state_dict().items()}
    expected = tiny.trace(TEXT, to="fr").logits
    for way, breakage, _ in BREAKAGES.values():
        run(tiny, way, breakage=breakage)
    tiny.in_dtype(torch.float16)
    assert not any(module.training for module in tiny.model.modules())
    assert all(torch.equal(weight, before[name]) for name, weight in tiny.model.state_dict().items())
    assert torch.equal(tiny.trace(TEXT, to="fr").logits, expected)


def test_restarting_positions_without_a_cache_changes_nothing(tiny: Translator) -> None:
    made, whole = run(tiny, "recomputed", breakage=Breakage(restart_positions=True))
    assert verdict(made, whole).holds


def test_dropout_is_repeatable_by_its_seed(tiny: Translator) -> None:
    logits = [run(tiny, "cached", breakage=Breakage(dropout=0.2, seed=seed))[0].logits for seed in (1, 1, 2)]
    assert torch.equal(logits[0], logits[1])
    assert not torch.equal(logits[0], logits[2])


def sampled(seed: int) -> Sampling:
    return Sampling(torch.Generator().manual_seed(seed), temperature=1.3, top_k=40, top_p=0.95)


def test_sampling_is_repeatable_by_its_seed(tiny: Translator) -> None:
    ids = [run(tiny, "cached", choose=sampled(seed))[0].ids for seed in (7, 7, 8)]
    assert ids[0] == ids[1] != ids[2]


def test_sampled_steps_equal_the_pass_over_what_was_drawn(tiny: Translator) -> None:
    assert verdict(*run(tiny, "recomputed", choose=sampled(7))).holds


def test_a_beam_is_repeatable_and_finds_nothing_worse_than_greedy(tiny: Translator) -> None:
    first, whole = run(tiny, "cached", choose=Beam(4))
    again, _ = run(tiny, "recomputed", choose=Beam(4))
    alone, _ = run(tiny, "cached", choose=Beam(1))
    greedy, _ = run(tiny, "cached")
    assert first.ids == again.ids
    assert alone.ids == greedy.ids
    assert verdict(first, whole).holds, "the rows kept are those on the way to the best sentence"
    assert first.hypotheses[-1][0].log_probability >= alone.hypotheses[-1][0].log_probability - 1e-5


def test_a_beams_choices_are_those_of_its_best_sentence(tiny: Translator) -> None:
    made, _ = run(tiny, "cached", choose=Beam(4))
    best = made.hypotheses[-1][0].ids
    assert tuple(token.id for token in made.chosen) == best
    assert tuple(token.id for token in made.fed[1:]) == best[:-1]


def test_a_beam_shows_its_live_hypotheses(tiny: Translator) -> None:
    made, _ = run(tiny, "cached", choose=Beam(3))
    assert [len(kept) for kept in made.hypotheses[:2]] == [3, 3]
    assert {len(hypothesis.ids) for hypothesis in made.hypotheses[1] if not hypothesis.ended} == {2}


def test_a_teacher_is_fed_whatever_the_model_would_choose(tiny: Translator) -> None:
    given = tiny.codec.encode_target(TARGET, "fr")
    made, _ = run(tiny, "teacher")
    assert [token.id for token in made.fed] == list(given.ids[:-1])
    assert len(made.chosen) == len(given.ids) - 1
    assert [token.id for token in made.chosen] != list(given.ids[1:]), "an untrained model does not know the target"


def test_a_beam_refuses_a_teacher(tiny: Translator) -> None:
    with pytest.raises(ValueError, match="cannot be fed a teacher's prefix"):
        next(steps(tiny, TEXT, replace(plan_of(tiny, "teacher"), choose=Beam())))


@pytest.mark.parametrize(("cached", "rows"), [(True, 1), (False, 3)])
def test_a_step_is_a_small_trace_whose_labels_fit_its_rows(tiny: Translator, cached: bool, rows: int) -> None:
    made = list(tiny.stepwise(TEXT, to="fr", cached=cached, max_tokens=3))
    step = made[2]
    assert step.trace.kinds == ("encoder_self", "decoder_self", "cross")
    assert step.attn("decoder_self").shape[-2:] == (rows, 3)
    assert len(step.trace.query_tokens("cross")) == rows
    outputs = step.trace.output_tokens("cross")
    assert outputs is not None
    assert outputs[-1] == step.token
    assert [token.id for token in step.prefix] == [token.id for token in step.trace.key_tokens("decoder_self")]


def test_a_cached_step_keeps_little(tiny: Translator) -> None:
    """Keys and values of all steps lie in one storage: a step's own share is its row."""
    cached, recomputed = (
        sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors(tiny, way)}.values())
        for way in (True, False)
    )
    assert cached < recomputed / 4


def tensors(model: Translator, cached: bool) -> list[torch.Tensor]:
    made = list(model.stepwise(TEXT, to="fr", cached=cached, max_tokens=20))
    sites = [call for step in made for site, call in step.trace.calls.items() if site.kind != "encoder_self"]
    return [tensor for call in sites for tensor in (call.query, call.key, call.value)]


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_sentence_is_refused(tiny: Translator, text: str) -> None:
    with pytest.raises(TextError, match="The sentence is empty"):
        next(iter(tiny.stepwise(text, to="fr")))


@pytest.mark.parametrize("wrong", [{"mask": "half"}, {"dropout": 1.0}, {"dropout": -0.1}])
def test_a_breakage_that_there_is_not_is_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"not (1\.0|-0\.1|'half')"):
        Breakage(**wrong)
    assert Breakage() == INTACT
