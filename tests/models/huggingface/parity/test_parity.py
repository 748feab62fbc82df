"""Sixteen architectures against transformers' own eager attention: every layer and head, hidden states, logits."""

import pytest
import torch
import transformers

from tests.models.huggingface.checkpoints import ALL, DECODERS, ENCODERS, PAIRS

pytestmark = pytest.mark.computes

TEXTS = ["The quick brown fox jumps over the dog.", "Where is it?"]
TARGETS = ["A cat sat on the mat.", "I love you, and the town."]
CLOSE = {"atol": 5e-5, "rtol": 5e-5}
EAGER = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}
HAVE_SEGMENTS = ("bert", "albert", "electra")


def inputs(checkpoint, name, texts, pairs=None):
    """Encode texts with transformers' own tokenizer, padded."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint(name))
    made = tokenizer(texts, pairs, padding=True, padding_side="right", return_tensors="pt", return_token_type_ids=True)
    return {key: made[key] for key in made if key != "token_type_ids" or name in HAVE_SEGMENTS}


def outputs(peer, arguments):
    """Run the model in transformers: its outputs, and its weights by kind."""
    with torch.inference_mode():
        out = peer(**arguments, output_attentions=True, output_hidden_states=True)
    if peer.config.is_encoder_decoder:
        return out, {kind: torch.stack(out[name], dim=1) for kind, name in EAGER.items()}
    kind = (
        "decoder_self" if peer.config.architectures[0] in {each.model for each in DECODERS.values()} else "encoder_self"
    )
    return out, {kind: torch.stack(out.attentions, dim=1)}


def assert_same_maps(trace, weights, lengths):
    """Every layer and head of every item, row by row; rows of padding mean nothing and are left out."""
    assert trace.kinds == tuple(weights)
    for kind, expected in weights.items():
        for item in range(len(trace.sentences)):
            rows = lengths[kind][item]
            found = trace.attn(kind, item=item)
            keys, there = found.shape[-1], expected[item, :, :, :rows]
            torch.testing.assert_close(found[:, :, :rows], there[..., :keys], **CLOSE)
            assert not there[..., keys:].any()  # keys that are padding
            torch.testing.assert_close(found[:, :, :rows].sum(-1), torch.ones((*found.shape[:2], rows)))


@pytest.mark.parametrize("name", [*ENCODERS, *DECODERS])
def test_every_layer_and_head_of_a_padded_batch(name, model, peer, checkpoint):
    arguments = inputs(checkpoint, name, TEXTS)
    out, weights = outputs(peer(name), arguments)
    trace = model(name).trace(TEXTS, new_tokens=0 if name in DECODERS else None)
    lengths = arguments["attention_mask"].sum(dim=1).tolist()
    assert lengths[0] != lengths[1]
    assert_same_maps(trace, weights, dict.fromkeys(weights, lengths))
    if trace.logits is not None:
        torch.testing.assert_close(trace.logits[0, : lengths[0]], out.logits[0, : lengths[0]], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", PAIRS)
def test_every_layer_and_head_of_padded_sources_and_targets(name, model, peer, checkpoint):
    trace = model(name).trace(TEXTS, tgt_text=TARGETS)
    src, tgt = inputs(checkpoint, name, TEXTS), inputs(checkpoint, name, TARGETS)
    start = torch.full((2, 1), peer(name).config.decoder_start_token_id)
    fed = torch.cat((start, tgt["input_ids"]), dim=1)[:, :-1]
    out, weights = outputs(peer(name), src | {"decoder_input_ids": fed})
    src_lengths, tgt_lengths = src["attention_mask"].sum(1).tolist(), tgt["attention_mask"].sum(1).tolist()
    rows = {"encoder_self": src_lengths, "decoder_self": tgt_lengths, "cross": tgt_lengths}
    assert_same_maps(trace, weights, rows)
    shortest = min(tgt_lengths)
    torch.testing.assert_close(trace.logits[:, :shortest], out.logits[:, :shortest], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_pair_has_the_segments_of_its_family(name, model, peer, checkpoint):
    trace = model(name).trace(TEXTS[0], TEXTS[1])
    arguments = inputs(checkpoint, name, TEXTS[0], TEXTS[1])
    _, weights = outputs(peer(name), arguments)
    torch.testing.assert_close(trace.attn("encoder_self"), weights["encoder_self"][0], **CLOSE)
    assert [token.id for token in trace.tokens("src")] == arguments["input_ids"][0].tolist()
    if name in HAVE_SEGMENTS:  # and they matter: the same pair in one segment is another map
        assert [token.segment for token in trace.tokens("src")] == arguments["token_type_ids"][0].tolist()
        _, plain = outputs(peer(name), arguments | {"token_type_ids": torch.zeros_like(arguments["input_ids"])})
        assert (plain["encoder_self"] - weights["encoder_self"]).abs().max() > 0.01


@pytest.mark.parametrize("name", [*ENCODERS, *DECODERS])
def test_hidden_states_are_those_between_the_layers(name, model, peer, checkpoint):
    out, _ = outputs(peer(name), inputs(checkpoint, name, TEXTS[:1]))
    trace = model(name).trace(TEXTS[0], new_tokens=0 if name in DECODERS else None)
    stack = "encoder" if name in ENCODERS else "decoder"
    for layer, expected in enumerate(out.hidden_states[:-1], start=-1):  # the last one may come after a final norm
        torch.testing.assert_close(trace.layer_output(stack, layer), expected[0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ALL)
def test_logits_and_hidden_states_can_be_left_out(name, model):
    arguments = {"tgt_text": TARGETS[0]} if name in PAIRS else {"new_tokens": 0} if name in DECODERS else {}
    whole = model(name).trace(TEXTS[0], **arguments)
    lean = model(name).trace(TEXTS[0], **arguments, logits=False, hidden=False)
    assert lean.logits is None
    assert not lean.layers
    assert lean.nbytes() < whole.nbytes()
    for kind in whole.kinds:
        assert torch.equal(lean.attn(kind), whole.attn(kind))
