"""Step by step on transformers' cache: the rows of the full pass, and the tokens that `generate` writes."""

import pytest
import torch

from tests.models.huggingface.checkpoints import DECODERS, ENCODERS, PAIRS
from tests.models.huggingface.test_faithful import CLOSE, outputs

PROMPT, COUNT = "The dog looked at the", 7


def greedy(peer, ids, count):
    """What transformers itself writes."""
    with torch.inference_mode():
        made = peer.generate(
            ids,
            do_sample=False,
            num_beams=1,
            max_new_tokens=count,
            attention_mask=torch.ones_like(ids),
            use_cache=False,
        )
    return made[0].tolist()


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_is_fed_its_prompt_then_its_own_choices(name, cached, model, peer):
    steps = list(model(name).stepwise(PROMPT, new_tokens=COUNT, cached=cached))
    prompt = model(name).text.encode(PROMPT).ids
    fed = [token.id for token in steps[-1].prefix]
    assert [*fed, steps[-1].token.id] == greedy(peer(name), torch.tensor([prompt]), COUNT)
    assert [token.part for token in steps[-1].prefix] == [0] * len(prompt) + [1] * (len(fed) - len(prompt))
    out, weights = outputs(peer(name), {"input_ids": torch.tensor([fed])})
    for row, step in enumerate(steps):
        found = step.attn("decoder_self")[..., -1, :]
        torch.testing.assert_close(found, weights["decoder_self"][0, ..., row, : row + 1], **CLOSE)
        torch.testing.assert_close(step.logits, out.logits[0, row], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("name", PAIRS)
def test_an_encoder_decoder_writes_what_transformers_writes(name, cached, model, peer):
    src = torch.tensor([model(name).text.encode(PROMPT).ids])
    steps = list(model(name).stepwise(PROMPT, new_tokens=COUNT, cached=cached))
    fed = [token.id for token in steps[-1].prefix]
    assert [*fed, steps[-1].token.id] == greedy(peer(name), src, COUNT)
    out, weights = outputs(peer(name), {"input_ids": src, "decoder_input_ids": torch.tensor([fed])})
    for row, step in enumerate(steps):
        torch.testing.assert_close(step.attn("cross")[..., -1, :], weights["cross"][0, ..., row, :], **CLOSE)
        own = step.attn("decoder_self")[..., -1, :]
        torch.testing.assert_close(own, weights["decoder_self"][0, ..., row, : row + 1], **CLOSE)
        torch.testing.assert_close(step.logits, out.logits[0, row], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(steps[0].attn("encoder_self"), weights["encoder_self"][0], **CLOSE)


@pytest.mark.parametrize("name", PAIRS)
def test_a_teacher_is_followed_and_what_the_model_would_choose_is_told(name, model):
    trace = model(name).trace(PROMPT, tgt_text="A cat sat.")
    steps = list(model(name).stepwise(PROMPT, tgt_text="A cat sat."))
    assert steps[-1].prefix == trace.query_tokens("cross")
    assert [step.token.id for step in steps] == trace.logits[0].argmax(-1).tolist()
    for row, step in enumerate(steps):
        torch.testing.assert_close(step.attn("cross")[..., -1, :], trace.attn("cross")[..., row, :], **CLOSE)


@pytest.mark.parametrize("name", DECODERS)
def test_a_trace_of_prompt_and_continuation_is_one_pass_over_both(name, model):
    trace = model(name).trace(PROMPT, new_tokens=COUNT)
    last = list(model(name).stepwise(PROMPT, new_tokens=COUNT))[-1]
    assert trace.tokens("tgt") == (*last.prefix, last.token)
    assert trace.tgt_text.startswith(PROMPT)
    assert trace.attn("decoder_self").shape[-2:] == (len(last.prefix),) * 2


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_has_no_steps(name, model):
    with pytest.raises(ValueError, match="writes no text"):
        model(name).stepwise(PROMPT)


@pytest.mark.parametrize("name", PAIRS)
def test_the_start_of_a_target_is_no_padding(name, model):
    """Marian and T5 begin a target with the id of their padding: it is looked at all the same."""
    trace = model(name).trace(["A cat.", PROMPT], tgt_text=["I", "I love you, and the town."])
    first = trace.tokens("tgt")[0]
    assert first.id == model(name).text.pad_id
    assert (first.text, first.is_special, model(name).is_pad(first)) == ("<start>", True, False)
    assert [model(name).is_pad(token) for token in trace.tokens("tgt", 0)][-1]
    assert trace.attn("decoder_self")[..., 0].any()
