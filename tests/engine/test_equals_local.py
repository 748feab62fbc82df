"""A model behind an engine gives what the same model gives here, to the last digit: every kind, every operation."""

import pytest
import torch

from attnviz.analysis.fills import FillChoice, Weighing
from attnviz.analysis.mask_spec import MaskSpec
from attnviz.analysis.rerun import batch_of_two, write_again
from attnviz.decoding.numbers.tolerance import tolerance
from attnviz.engine.probes import CannotTravelError
from attnviz.models.decoding_record import decoding_record
from attnviz.models.protocol import Model
from attnviz.tracing.causes.making import ablate, patch
from attnviz.tracing.interventions import Chain, MaskOverride
from attnviz.tracing.recorder import Recorder
from attnviz.transformer.beam import Beam
from attnviz.transformer.decoding import Sampling
from attnviz.transformer.probe import Site
from tests.each_case import each_case
from tests.engine.alike import assert_alike
from tests.engine.conftest import KINDS, Both

TEXT = "I love you"
WRITERS = [name for name in KINDS if name != "bert"]


@each_case("name", KINDS)
def test_it_is_a_model_that_says_of_itself_what_it_says_here(both, name: str) -> None:
    model: Both = both(name)
    assert isinstance(model.there, Model)
    for said in ("model_id", "writes", "languages", "inputs", "kinds", "shapes", "n_parameters"):
        assert getattr(model.there, said) == getattr(model.here, said), said
    assert model.there.padding(3) == model.here.padding(3)
    assert model.there.encode_target("love", **model.to) == model.here.encode_target("love", **model.to)
    assert model.there.decode_ids([5, 7]) == model.here.decode_ids([5, 7])


@each_case("name", KINDS)
def test_a_trace_is_the_same_with_an_intervention_and_without(both, name: str) -> None:
    model: Both = both(name)
    assert_alike(model.here.trace(TEXT, **model.to), model.there.trace(TEXT, **model.to))
    for done in _interventions(model):
        how = {**model.short, "interventions": [done]}
        assert_alike(model.here.trace(TEXT, **how), model.there.trace(TEXT, **how))


@each_case("name", KINDS)
def test_a_run_with_a_mask_in_force_is_the_same(both, name: str) -> None:
    model: Both = both(name)
    trace = model.here.trace(TEXT, **model.short)
    masks = [
        MaskOverride([Site(kind, 0)], MaskSpec({"window": (1,)}).build, head=1, weigh=weigh)
        for kind, weigh in zip(model.here.kinds, (Weighing(FillChoice("-1e9", "float32")), None, None), strict=False)
    ]
    for mask in masks:
        assert_alike(model.here.rerun(trace, mask), model.there.rerun(trace, mask))
    done = ablate("decoder_self" if "decoder_self" in model.here.kinds else "encoder_self", layer=0, heads=[1])
    changed = model.here.trace(TEXT, **model.short, interventions=[done])
    assert_alike(model.here.rerun(changed, Chain(masks)), model.there.rerun(changed, Chain(masks)))


def test_a_padded_batch_is_run_again_as_here(both) -> None:
    model: Both = both("tiny")
    pair = [model.here.trace(text, **model.short) for text in (TEXT, "a big red dog")]
    assert_alike(batch_of_two(model.here, *pair), batch_of_two(model.there, *pair))


@each_case(("name", "cached"), [("tiny", True), ("tiny", False), ("gpt2", True), ("bart", True)])
def test_what_is_written_under_a_mask_is_the_same(both, name: str, *, cached: bool) -> None:
    model: Both = both(name)
    trace = model.here.trace(TEXT, **model.short)
    random = MaskSpec({"random": (0.6, 3)})  # which differs for each length, so that every step must have its own
    masks = [None, MaskOverride([Site("decoder_self", 0), Site("decoder_self", 1)], random.build)]
    if "cross" in model.here.kinds:
        masks.append(MaskOverride([Site("cross", 0)], MaskSpec({"wait-k": (1,)}).build))
    for mask in masks:
        here, there = (write_again(one, trace, mask, cached=cached) for one in (model.here, model.there))
        assert here == there


@pytest.mark.parametrize("name", WRITERS)
def test_copies_of_a_run_answer_and_write_the_same(both, name: str) -> None:
    from attnviz.analysis.runs import rows_of_edits, write_runs

    model: Both = both(name)
    trace = model.here.trace(TEXT, **model.short)
    changes = [ablate("decoder_self", layer=layer, heads=[head]) for layer in (0, 1) for head in (0, 1)]
    edits = rows_of_edits(model.here, trace, changes)
    for rows in (None, (0,)):
        assert torch.equal(
            model.here.logits_under(trace, edits, rows=rows), model.there.logits_under(trace, edits, rows=rows)
        )
    assert write_runs(model.here, trace, edits) == write_runs(model.there, trace, edits)


# Each kind of model, and each way once.
@each_case(
    ("name", "how"),
    [
        ("tiny", {"cached": False}), ("tiny", {"choose": "sampled"}), ("gpt2", {}), ("gpt2", {"choose": "sampled"}),
        ("bart", {"interventions": "ablated"}),
    ],
)  # fmt: skip
def test_the_steps_of_a_decoding_are_the_same(both, name: str, how: dict) -> None:
    model: Both = both(name)
    records = []
    for one in (model.here, model.there):
        asked = dict(how)
        if "choose" in asked:
            asked["choose"] = Sampling(torch.Generator().manual_seed(5), top_k=9)
        if "interventions" in asked:
            asked["interventions"] = [ablate("decoder_self", layer=1, heads=[0])]
        records.append((decoding_record(one.stepwise(TEXT, **model.brief, **asked)), asked))
    (here, asked), (there, also) = records
    assert (here.fed, here.chosen, here.src) == (there.fed, there.chosen, there.src)
    assert torch.equal(here.logits, there.logits)
    for kind, attn in here.attn.items():
        assert torch.equal(attn, there.attn[kind])
    for stack, hidden in here.hidden.items():
        assert torch.equal(hidden, there.hidden[stack])
    if "choose" in asked:  # the next run draws the same numbers, too
        states = [one["choose"].generator.get_state() for one in (asked, also)]
        assert torch.equal(*states)


def test_a_beam_keeps_the_same_sentences(both) -> None:
    model: Both = both("tiny")
    here, there = (
        decoding_record(one.stepwise(TEXT, **model.brief, choose=Beam(3))) for one in (model.here, model.there)
    )
    assert here.hypotheses == there.hypotheses
    assert torch.equal(here.logits, there.logits)


def test_rounding_goes_on_with_the_same_random_numbers(both) -> None:
    model: Both = both("gpt2")
    trace = model.here.trace(TEXT)
    here, there = (
        tolerance(trace, lambda probe, one=one: one.rerun(trace, probe)) for one in (model.here, model.there)
    )
    assert torch.equal(here.logits, there.logits)


def test_translations_are_the_same_and_their_notes(both) -> None:
    texts = [TEXT, "", "a big red dog " * 60]
    notes: list[list] = [[], []]
    found = [
        one.translate(texts, to="fr", tell=lambda *said, into=into: into.append(said))
        for one, into in zip((both("tiny").here, both("tiny").there), notes, strict=True)
    ]
    assert found[0] == found[1]
    assert notes[0] == notes[1]
    assert both("bart").here.write_target(TEXT) == both("bart").there.write_target(TEXT)


@each_case("name", KINDS)
def test_what_the_model_refuses_is_refused_in_its_own_words(both, name: str) -> None:
    model: Both = both(name)
    for wrong in ({"text": " "}, {"text": TEXT, "interventions": [ablate(model.here.kinds[0], layer=99)]}):
        said = []
        for one in (model.here, model.there):
            with pytest.raises(ValueError, match=r".+") as refusal:  # which one, the other says
                one.trace(wrong["text"], **model.to, interventions=wrong.get("interventions", ()))
            said.append(str(refusal.value))
        assert said[0] == said[1]


def test_what_torch_refuses_is_a_runtime_error_there_too(both) -> None:
    model: Both = both("bert")
    trace = model.here.trace(TEXT)
    mask = MaskOverride(
        [Site("encoder_self", 0)], MaskSpec({"window": (1,)}).build, weigh=Weighing(FillChoice("-1e9", "float16"))
    )
    for one in (model.here, model.there):
        with pytest.raises(RuntimeError, match=r"overflow|out of range|cannot be"):
            one.rerun(trace, mask)


def test_what_needs_the_model_itself_says_so_in_a_sentence(both) -> None:
    model: Both = both("gpt2")
    with pytest.raises(CannotTravelError, match=r"^gpt2 runs on the engine: .*the layers of the model"):
        model.there.rerun(model.here.trace(TEXT), Recorder())
    with pytest.raises(ValueError, match=r"^gpt2 runs on the engine, but this needs the model itself \(torch_module\)"):
        model.there.torch_module  # noqa: B018 - asking is all
    assert not hasattr(model.there, "network")


def _interventions(model: Both) -> list:
    kind = model.here.kinds[-1]
    donor = model.here.trace("you love I", **model.short)
    return [
        ablate(kind, layer=0, heads=[1]),
        ablate(kind, layer=1, to="uniform"),
        patch(donor, kind, layer=0, heads=[0]),
    ]
