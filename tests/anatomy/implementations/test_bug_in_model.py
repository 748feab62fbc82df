"""A bug in the running model: right steps change nothing, wrong ones move the logits, and torch's errors are told."""

import pytest
import torch

import attnviz
from attnviz.analysis.cancellable import Cancellable
from attnviz.analysis.inputs import site_module
from attnviz.analysis.outcome import Raised
from attnviz.analysis.rerun import start_writing, write_again
from attnviz.anatomy.implementations.numbers.bug_in_model import MOST, BugEffect, BuggySites, bug_in_model
from attnviz.implementations.bugs.cabinet import BUGS
from attnviz.implementations.steps import RIGHT
from attnviz.implementations.weights import SiteWeights
from attnviz.masks.numbers.effect import effect
from attnviz.models.translator.tiny import tiny_translator
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.attention import MultiHeadAttention
from attnviz.transformer.probe import Site
from tests.each_case import each_case

SITES = [Site(kind, layer) for kind in ("encoder_self", "decoder_self", "cross") for layer in (0, 1)]


@pytest.fixture(scope="module")
def model():
    return tiny_translator()


@pytest.fixture(scope="module")
def everywhere(model):
    return {site: SiteWeights.from_module(site_module(model, site)) for site in SITES}


@pytest.fixture(scope="module")
def trace(model):
    return model.trace("a big red dog", to="fr")


def test_right_steps_change_nothing(model, trace, everywhere) -> None:
    result = bug_in_model(model, trace, RIGHT, everywhere)
    assert result.logits_change < 1e-4
    assert result.before == result.after == trace.tgt_text
    assert result.cut == (2 * len(trace.tokens("src")) + 20 if trace.sentences[0].cut else 0)


def test_a_translation_that_is_longer_than_what_is_written_here_is_said_to_be_cut(model, everywhere) -> None:
    trace = model.trace("a big red dog and " * 9, to="fr")
    assert len(trace.tokens("tgt")) > MOST, "an untrained model does not find an end"
    result = bug_in_model(model, trace, RIGHT, everywhere)
    assert result.cut == MOST
    assert trace.tgt_text.startswith(result.before)
    assert result.before != trace.tgt_text


@each_case("name", ["softmax_over_heads", "merge_by_reshape", "split_by_view", "no_scale"])
def test_a_wrong_step_moves_the_logits(model, trace, everywhere, name: str) -> None:
    result = bug_in_model(model, trace, BUGS[name].steps, everywhere)
    assert isinstance(result, BugEffect)
    assert result.logits_change > 1e-3


def test_what_torch_raises_is_told(model, trace, everywhere) -> None:
    result = bug_in_model(model, trace, BUGS["float_head_size"].steps, everywhere)
    assert isinstance(result, Raised)
    assert result.error.startswith("TypeError")


def test_in_half_precision_right_steps_are_right_and_a_wrong_one_is_what_it_is(model, trace, everywhere) -> None:
    """Sites are computed in float32 whatever the model runs in: a RuntimeError of ours would read like the bug's."""
    half = model.copy_in_dtype(torch.bfloat16)
    right = bug_in_model(half, half.trace("a big red dog", to="fr"), RIGHT, everywhere)
    assert isinstance(right, BugEffect)
    assert right.logits_change < 0.1
    wrong = bug_in_model(half, trace, BUGS["float_head_size"].steps, everywhere)
    assert isinstance(wrong, Raised)
    assert wrong.error.startswith("TypeError")


def full(*_, **__):
    raise torch.OutOfMemoryError("CUDA out of memory.")


def test_a_full_device_is_no_bug_and_no_refusal(model, trace, everywhere, monkeypatch) -> None:
    probe = MaskOverride([SITES[0]], lambda q_len, k_len: torch.ones(1, q_len, k_len, dtype=torch.bool))
    written = start_writing(model, trace, None)
    whole = write_again(model, trace, None)
    with monkeypatch.context() as patch:
        patch.setattr(MultiHeadAttention, "forward", full)
        for run in (
            lambda: bug_in_model(model, trace, RIGHT, everywhere),
            lambda: effect(model, trace, probe),
            lambda: written.go_on(0.0),
        ):
            with pytest.raises(torch.OutOfMemoryError):
                run()
    assert not written.error
    assert [written.go_on(60.0).so_far()] == whole, "asked again it is written from its beginning"


def test_a_head_that_is_rightly_off_is_an_ablation_and_zeroing_the_output_is_not(model, everywhere) -> None:
    trace = model.trace("a big red dog", to="fr", tgt_text="un chien rouge")
    sites = {site: weights for site, weights in everywhere.items() if site.kind == "cross"}
    off = [attnviz.ablate("cross", layer=site.layer, heads=[2]) for site in sites]
    expected = model.trace("a big red dog", to="fr", tgt_text="un chien rouge", interventions=off).logits
    found = model.rerun(trace, BuggySites(sites, RIGHT, off=2)).logits
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
    result = bug_in_model(model, trace, BUGS["ablation_after_output"].steps, sites, off=2)
    assert isinstance(result, BugEffect)
    assert result.logits_change > 1e-3


def test_every_pass_is_told_and_a_finished_text_is_kept(model, trace, everywhere) -> None:
    told, kept = [], dict[object, object]()

    def keep(name, make):
        kept[name] = kept[name] if name in kept else make()
        return kept[name]

    work = Cancellable(lambda done, most: told.append((done, most)), keep=keep)
    result = bug_in_model(model, trace, BUGS["no_scale"].steps, everywhere, work=work)
    passes = len(told)
    assert passes > len(trace.tokens("tgt"))
    assert bug_in_model(model, trace, BUGS["no_scale"].steps, everywhere, work=work) == result
    assert len(told) - passes <= 3, "only the two passes over the traced tokens run again"
