"""A toy that was trained without a mask: what it does, and what putting the mask back does."""

import re

import pytest
import torch

from attnviz.analysis.rerun import batch_of_two
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer import masks
from attnviz.transformer.probe import Site
from tests.models.toy.toys import FRENCH, LINE, shipped_toy


def test_a_toy_without_its_causal_mask_looks_ahead_and_writes_wrong(blind):
    assert blind.without == ("causal-mask",)
    trace = blind.trace(LINE, tgt_text=FRENCH)
    ahead = trace.attn("decoder_self").diagonal(1, dim1=-2, dim2=-1)[..., :-1].mean(dim=-1)
    assert float(ahead.max()) > 0.7
    assert bool(trace.mask("decoder_self").all())
    said = trace.logits[0].argmax(dim=-1).tolist()
    assert said == [token.id for token in trace.sentences[0].tgt_out]  # perfect, with the answer before its eyes
    assert blind.write(LINE) != FRENCH


def test_the_missing_mask_can_be_put_back_and_does_not_help(blind):
    healed = blind.put_back("causal-mask")
    assert healed.without == ()
    assert healed.model_id != blind.model_id
    trace = healed.trace(LINE, tgt_text=FRENCH)
    assert not trace.attn("decoder_self").triu(1).any()
    assert healed.write(LINE) != FRENCH
    right = trace.logits[0].argmax(dim=-1) == torch.tensor([token.id for token in trace.sentences[0].tgt_out])
    assert float(right.float().mean()) < 0.5
    assert blind.without == ("causal-mask",)  # nobody else's model has changed


def test_a_mask_on_the_masks_page_is_in_force_over_the_one_that_is_missing(blind):
    causal = MaskOverride({Site("decoder_self", 0)}, masks.causal)
    trace = blind.trace(LINE, tgt_text=FRENCH)
    masked = blind.rerun(trace, causal)
    torch.testing.assert_close(
        masked.attn("decoder_self"), blind.put_back("causal-mask").rerun(trace).attn("decoder_self")
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "causal-mask",
            "'causal-mask' cannot be put back, because this toy was not trained without it. This toy "
            "lacks only positions.",
        ),
        (
            "positions",
            "positions cannot be put back, because the weights were trained without it. Please train the "
            "toy again with it.",
        ),
    ],
)
def test_putting_back_a_part_names_why_it_is_refused(name, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        shipped_toy(task="sort", without="positions").put_back(name)


def test_without_a_padding_mask_padding_is_seen():
    model = shipped_toy(task="reverse", without="padding-mask")
    plain, other = model.trace("a b c"), model.trace("a b c d e f g")
    both = batch_of_two(model, plain, other)
    assert float(both.attn("cross", item=0)[..., 4:].sum()) > 0  # the columns of padding
    healed = model.put_back("padding-mask")
    assert float(batch_of_two(healed, plain, other).attn("cross", item=0)[..., 4:].sum()) == 0


def test_a_cut_target_ends_in_a_cut_token_and_a_note(blind):
    trace = blind.trace(LINE)
    if trace.sentences[0].cut:
        assert "was cut after" in trace.info.notes[-1]
        assert trace.sentences[0].tgt_out[-1].text == "(cut)"
