"""Half precision: as near to float32 as transformers' own is, and in the same types, tensor by tensor."""

import pytest
import torch
import transformers

from attnviz.models.huggingface import load
from tests.models.huggingface import checkpoints

CPU = torch.device("cpu")
LONG = "The quick brown fox jumps over the lazy dog. A cat sat on the mat, and the dog looked at the cat. " * 30
HALVES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])


def types(network):
    return {name: tensor.dtype for name, tensor in (*network.named_parameters(), *network.named_buffers())}


@HALVES
@pytest.mark.parametrize("name", ["gpt_neox", "llama", "gemma", "phi", "t5", "roberta"])
def test_every_tensor_has_the_type_that_transformers_gives_it(name, dtype, checkpoint):
    ours = load(checkpoint(name), device=CPU, dtype=dtype).network.model
    own = type(ours).from_pretrained(checkpoint(name), dtype=dtype)
    assert types(ours) == types(own)
    assert all(torch.equal(a, b) for a, b in zip(ours.buffers(), own.buffers(), strict=True))


def test_maps_a_thousand_tokens_long_are_as_near_to_float32_as_those_of_transformers(tmp_path):
    """Angles rounded to bfloat16 turn the late tokens by whole radians: the maps are then off four times as far."""
    folder = checkpoints.save(tmp_path / "llama", checkpoints.DECODERS["llama"], max_position_embeddings=2048)
    exact, half = (
        load(folder, device=CPU, dtype=dtype).trace(LONG, new_tokens=0, logits=False, hidden=False)
        for dtype in (torch.float32, torch.bfloat16)
    )
    ids = torch.tensor([[token.id for token in half.tokens("tgt")]])
    assert ids.shape[1] == 1_024
    peer = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.bfloat16, attn_implementation="eager"
    ).eval()
    with torch.inference_mode():
        theirs = peer(ids, output_attentions=True).attentions[0][0]
    expected = exact.attn("decoder_self", layer=0)
    off = [
        float((maps.float() - expected).abs().sum(-1).mean()) for maps in (half.attn("decoder_self", layer=0), theirs)
    ]
    assert off[0] <= 1.2 * off[1]


@HALVES
def test_a_model_of_mixed_types_traces_and_writes(dtype, checkpoint):
    """T5 keeps `wo` in float32 where it computes in float16."""
    t5 = load(checkpoint("t5"), device=CPU, dtype=dtype)
    trace = t5.trace("A cat sat on the mat.", tgt_text="I love you.")
    assert trace.info.dtype == str(dtype).removeprefix("torch.")
    assert all(trace.attn(kind).isfinite().all() for kind in trace.kinds)
    steps = list(t5.stepwise("A cat sat.", tgt_text="I love you."))
    assert all(step.trace.attn("cross").isfinite().all() for step in steps)
