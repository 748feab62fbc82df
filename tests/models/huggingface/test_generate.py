"""Step by step on transformers' cache: the rows of the full pass, and the tokens that `generate` writes."""

from dataclasses import replace

import pytest
import torch

from attnviz.models.decoding_record import decoding_record
from tests.models.huggingface.checkpoints import DECODERS, ENCODERS, PAIRS
from tests.models.huggingface.parity.test_parity import CLOSE, outputs

pytestmark = pytest.mark.computes

PROMPT, COUNT = "The dog looked at the", 7


def greedy(peer, ids, count):
    """Generate with transformers itself."""
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


@pytest.mark.parametrize(("name", "cached"), [*((name, True) for name in DECODERS), ("llama", False)])
def test_a_decoder_is_fed_its_prompt_then_its_own_choices(name, cached, model, peer):
    steps = list(model(name).stepwise(PROMPT, new_tokens=COUNT, cached=cached))
    prompt = model(name).text.encode(PROMPT).ids
    fed = [token.id for token in steps[-1].prefix]
    assert [*fed, steps[-1].token.id] == greedy(peer(name), torch.tensor([prompt]), COUNT)
    assert [token.segment for token in steps[-1].prefix] == [0] * len(prompt) + [1] * (len(fed) - len(prompt))
    out, weights = outputs(peer(name), {"input_ids": torch.tensor([fed])})
    for row, step in enumerate(steps):
        found = step.attn("decoder_self")[..., -1, :]
        torch.testing.assert_close(found, weights["decoder_self"][0, ..., row, : row + 1], **CLOSE)
        torch.testing.assert_close(step.logits, out.logits[0, row], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("name", "cached"), [*((name, True) for name in PAIRS), ("t5", False)])
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


@pytest.mark.parametrize(("name", "cached"), [*((name, True) for name in DECODERS), ("llama", False)])
def test_a_teacher_continues_a_prompt_whatever_the_model_would_choose(name, cached, model):
    """What is fed is not what the model writes: here its own continuation with every token moved up by one id."""
    prompt = model(name).text.encode(PROMPT).ids
    own = [token.id for token in model(name).trace(PROMPT, new_tokens=COUNT).tokens("tgt")][len(prompt) :]
    tgt_in = (*prompt, *((id_ + 1) % model(name).network.model.config.vocab_size for id_ in own))
    steps = list(model(name).stepwise(PROMPT, tgt_in=tgt_in, cached=cached))
    assert tuple(token.id for token in steps[-1].prefix) == tgt_in
    assert [token.segment for token in steps[-1].prefix] == [0] * len(prompt) + [1] * len(own)
    whole = decoding_record(steps)
    trace = model(name).trace(PROMPT, new_tokens=0)
    sentence = replace(trace.sentences[0], tgt=(*whole.fed, whole.chosen[-1]), cut=False)
    one_pass = model(name).rerun(replace(trace, sentences=(sentence,)))
    torch.testing.assert_close(whole.attn["decoder_self"], one_pass.attn("decoder_self"), **CLOSE)
    torch.testing.assert_close(whole.logits, one_pass.logits[0], atol=1e-4, rtol=1e-4)
    assert [token.id for token in whole.chosen] == model(name).vocabulary.forbid(whole.logits).argmax(-1).tolist()


@pytest.mark.parametrize("name", PAIRS)
def test_a_teachers_ids_are_fed_as_its_text_is(name, model):
    taught = model(name).trace(PROMPT, tgt_text="A cat sat.").sentences[0].tgt_in
    by_ids = list(model(name).stepwise(PROMPT, tgt_in=[token.id for token in taught]))
    by_text = list(model(name).stepwise(PROMPT, tgt_text="A cat sat."))
    assert [t.id for t in by_ids[-1].prefix] == [t.id for t in by_text[-1].prefix] == [t.id for t in taught]
    torch.testing.assert_close(by_ids[-1].logits, by_text[-1].logits)


def test_ids_that_begin_otherwise_or_find_no_place_are_refused(model):
    decoder, pair = model("gpt2"), model("marian")
    prompt = decoder.text.encode(PROMPT).ids
    with pytest.raises(ValueError, match="must begin with the prompt's ids"):
        decoder.stepwise(PROMPT, tgt_in=(*prompt[1:], 5))
    with pytest.raises(ValueError, match=f"positions for {decoder.text.max_tokens}"):
        decoder.stepwise(PROMPT, tgt_in=(*prompt, *[5] * decoder.text.max_tokens))
    with pytest.raises(ValueError, match="every target of this model begins with"):
        pair.stepwise(PROMPT, tgt_in=())


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
    assert trace.attn("decoder_self")[..., 0].any()
