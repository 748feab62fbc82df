"""The tokens that a run is asked about, and their probabilities, equal to PyTorch's: of a translator, a decoder and an
encoder.
"""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.causes.numbers.chances import chances, compared_tokens
from attnviz.causes.numbers.effects import head_effects
from attnviz.causes.numbers.switched_off import rerun_under
from tests.models.huggingface import checkpoints


@pytest.fixture(scope="module")
def load_checkpoint(tmp_path_factory: pytest.TempPathFactory):
    def make(name: str):
        return attnviz.load(checkpoints.save(tmp_path_factory.mktemp("hf") / name, checkpoints.ALL[name]))

    return make


def test_probabilities_are_the_softmax_of_the_logits_and_the_rival_is_the_best_other(model, clean) -> None:
    found = chances(clean, compared_tokens(model, clean))
    logs = clean.logits[0].log_softmax(dim=-1)
    assert [token.text for token in found.asked.tokens] == [token.text for token in clean.sentences[0].tgt_out]
    for at, token in enumerate(found.asked.tokens):
        torch.testing.assert_close(found.log_probabilities[at], logs[at, token.id])
        two = logs[at].topk(2)
        is_first = int(two.indices[0]) == token.id
        assert int(found.rivals[at]) == int(two.indices[int(is_first)])
        assert (float(found.margins[at]) > 0) == is_first


def test_an_encoder_is_asked_about_its_masked_places_or_else_about_its_own_tokens(load_checkpoint) -> None:
    bert = load_checkpoint("bert")
    masked = compared_tokens(bert, bert.trace("the cat [MASK] here"))
    assert (masked.what, len(masked.rows)) == ("masked", 1)
    own = bert.trace("the cat sat here")
    asked = compared_tokens(bert, own)
    assert asked.what == "own"
    assert not any(token.is_special for token in asked.tokens)
    assert len(head_effects(bert, own).places) == sum(a * b for a, b in bert.shapes.values())


def test_every_token_of_a_prompt_is_asked_about(load_checkpoint) -> None:
    gpt2 = load_checkpoint("gpt2")
    trace = gpt2.trace("the cat sat on", new_tokens=2)
    asked = compared_tokens(gpt2, trace)
    assert asked.what == "text"
    assert len(asked.rows) == len([token for token in trace.sentences[0].tgt_out if token.id >= 0])


def test_without_probabilities_it_says_so(model, clean) -> None:
    with pytest.raises(ValueError, match="no probabilities"):
        compared_tokens(model, replace(clean, logits=None))


def test_nothing_off_changes_nothing_and_a_run_that_wrote_the_same_is_not_run_again(model, clean, make_trace) -> None:
    nothing = rerun_under(model, clean, ())
    assert nothing.after is clean
    assert nothing.chances is not None
    assert torch.equal(nothing.chances[0].log_probabilities, nothing.chances[1].log_probabilities)
    assert all(not bits.any() for bits in nothing.moved.values())
    done = [attnviz.ablate("cross", layer=0, heads=[1])]
    written = make_trace(clean.src_text, *done)
    assert rerun_under(model, clean, done, written=written).after is written
    other = model.trace(clean.src_text, to="fr", tgt_text="le chat", interventions=done)
    assert rerun_under(model, clean, done, written=other).after.sentences == clean.sentences, "the target is given"
    again = rerun_under(model, clean, done)
    torch.testing.assert_close(again.after.logits, written.logits, atol=1e-5, rtol=0)
    effects = head_effects(model, clean)
    place = effects.places.index(("cross", 0, 1))
    assert again.chances is not None
    torch.testing.assert_close(again.chances[1].log_probabilities, effects.after[place], atol=1e-4, rtol=0)
