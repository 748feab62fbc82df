"""The shipped translator writes and sees the same with its weights packed, as the dashboard has it."""

import pytest
import torch

from attnviz.models import catalogue
from attnviz.models.translator.translator import Translator
from attnviz.tracing.trace import Trace

SENTENCES = ("I love you.", "A big red dog jumped over a small pond.", "My brother gave me a book that he had read.")


@pytest.fixture(scope="module")
def packed() -> Translator:
    """One of its own: others share the shipped one as it is."""
    made = catalogue.translator(device="cpu", dtype="float32")
    made.model.pack()
    if made.model.embedding.packed is None:
        pytest.skip("nothing reads packed weights on this machine")
    return made


@pytest.fixture(scope="module")
def exact(packed: Translator) -> Translator:
    return packed.in_dtype(torch.float64)


def _error(found: Trace, exact: Trace) -> float:
    """The farthest that a weight or a logit is from the one in 64 bits, a logit counted in thousandths."""
    assert found.logits is not None
    assert exact.logits is not None
    weights = max(float((found.attn(kind) - exact.attn(kind)).abs().max()) for kind in found.kinds)
    return max(weights, float((found.logits - exact.logits).abs().max()) / 1000)


@pytest.mark.parametrize("to", ["fr", "de", "es", "zh"])
def test_packed_weights_give_the_same_sentences_and_maps(packed: Translator, exact: Translator, to: str) -> None:
    for text in SENTENCES:
        found = packed.trace(text, to=to)
        truth = exact.trace(text, to=to, tgt_text=found.sentences[0].tgt_text)
        assert truth.tokens("tgt") == found.tokens("tgt")
        assert truth.logits is not None
        written = [token.id for token in found.sentences[0].tgt_out]
        assert written == packed.vocabulary.likeliest(truth.logits[0])
        assert _error(found, truth) < 1e-5


def test_steps_and_passes_agree(packed: Translator) -> None:
    trace = packed.trace(SENTENCES[2], to="fr")
    steps = list(packed.stepwise(SENTENCES[2], to="fr"))
    assert [step.token for step in steps] == list(trace.sentences[0].tgt_out)
    assert packed.translate(list(SENTENCES), to="fr")[2] == trace.sentences[0].tgt_text


def test_packing_takes_no_word_back(packed: Translator, shipped: Translator) -> None:
    for to in shipped.languages:
        assert packed.translate(list(SENTENCES), to=to) == shipped.translate(list(SENTENCES), to=to)
    assert shipped.model.embedding.packed is None, "who loads it by itself gets it as it is"
