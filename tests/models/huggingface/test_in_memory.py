"""`attnviz.load(model, tokenizer)`: a model in memory is shown as its folder would be, and stays unchanged."""

import copy
import re
from types import SimpleNamespace

import pytest
import torch
import transformers

import attnviz
from attnviz.models.huggingface import ModelError, load
from attnviz.models.huggingface.network import forward_pass
from attnviz.transformer.attention import attend
from tests.models.huggingface import architectures, checkpoints
from tests.models.huggingface.refused import CPU
from tests.models.huggingface.tokenizers_made import byte_level, byte_prompts

pytestmark = pytest.mark.computes

TEXT = "The quick brown fox jumps over the dog."


@pytest.fixture(scope="module")
def loaded_by_transformers(checkpoint):
    """Load a model and its tokenizer by transformers."""

    def make(name, **how):
        return checkpoints.reference(checkpoint(name)).to(**how), transformers.AutoTokenizer.from_pretrained(
            checkpoint(name)
        )

    return make


def tiny_classifier(name, config, **sizes):
    config = getattr(transformers, config)(vocab_size=len(byte_level()), pad_token_id=1, **sizes)
    return getattr(transformers, name)(config)


@pytest.mark.parametrize("name", ["bert", "llama", "gpt2", "bart", "t5"])
def test_a_model_in_memory_equals_the_one_in_its_folder(name, loaded_by_transformers, model):
    held = attnviz.load(*loaded_by_transformers(name))
    for kind in (whole := model(name).trace(TEXT)).kinds:
        assert torch.equal(held.trace(TEXT).attn(kind), whole.attn(kind))
    assert (held.writes, held.inputs, held.shapes) == (model(name).writes, model(name).inputs, model(name).shapes)


@torch.inference_mode()
def test_the_model_and_the_tokenizer_that_were_given_stay_as_they_were(loaded_by_transformers):
    own, tokenizer = loaded_by_transformers("gpt2")
    own.train()
    tokenizer.backend_tokenizer.enable_truncation(5)
    before = {name: type(module) for name, module in own.named_modules()}
    attnviz.load(own, tokenizer).trace(TEXT)
    assert own.training
    assert own.config._attn_implementation == "eager"
    assert tokenizer.backend_tokenizer.truncation["max_length"] == 5
    assert before == {name: type(module) for name, module in own.named_modules()}
    assert all(parameter.requires_grad for parameter in own.parameters())
    assert not any(module._forward_pre_hooks for module in own.modules())


def test_what_is_learned_afterwards_is_shown_and_has_another_id(loaded_by_transformers):
    own, tokenizer = loaded_by_transformers("llama")
    held = attnviz.load(own, tokenizer)
    before, kept = held.trace(TEXT), attnviz.load(own, tokenizer, dtype="bfloat16")
    ids = [held.model_id, kept.model_id]
    assert ids[0] == ids[1] == before.model_id
    own.model.layers[0].self_attn.q_proj.weight.data.mul_(1.5)  # which torch's own counts of changes do not see
    assert not torch.equal(held.trace(TEXT).attn("decoder_self"), before.attn("decoder_self"))
    assert held.trace(TEXT).model_id == held.model_id == attnviz.load(own, tokenizer).model_id != ids[0]
    assert kept.model_id == ids[1]  # a copy, which nobody trained
    for old in (attnviz.patch(before, "decoder_self", layer=0), attnviz.ablate("decoder_self", layer=0, to=before)):
        with pytest.raises(ValueError, match="recorded with other weights"):
            held.trace(TEXT, interventions=old)
    with pytest.raises(ValueError, match="traces of this model"):
        attnviz.mean_contexts(held, before)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "bart", "t5", "marian"])
def test_the_id_is_that_of_the_folder_with_the_same_numbers(name, loaded_by_transformers, model, tmp_path):
    own, tokenizer = loaded_by_transformers(name)
    held = attnviz.load(own, tokenizer)
    assert held.model_id == model(name).model_id
    with torch.no_grad():  # two heads change places: a sum of all weights would be the same
        weight = next(each for key, each in own.named_parameters() if each.dim() == 2 and "emb" not in key)
        weight[[0, 1]] = weight[[1, 0]]
    assert held.model_id != model(name).model_id
    for part in (own, tokenizer):
        part.save_pretrained(tmp_path / "trained")
    assert load(tmp_path / "trained", **CPU).model_id == held.model_id
    if name == "marian":  # its table of sines is in no file, and rounded in memory
        return
    half = loaded_by_transformers(name, dtype=torch.bfloat16)
    half[0].save_pretrained(tmp_path / "half")
    tokenizer.save_pretrained(tmp_path / "half")
    assert attnviz.load(*half).model_id == load(tmp_path / "half", **CPU).model_id


def test_the_id_changes_with_config_and_tokenizer(loaded_by_transformers):
    own, tokenizer = loaded_by_transformers("llama")
    held = attnviz.load(own, tokenizer)
    other = copy.deepcopy(own)
    other.config.rms_norm_eps = 0.5
    tokenizer.add_tokens(["sat"])
    with pytest.warns(UserWarning, match="the model has embeddings for"):
        ids = {attnviz.load(other, tokenizer).model_id, attnviz.load(own, tokenizer).model_id, held.model_id}
    assert len(ids) == 3


def test_half_precision_stays_and_was_compared_in_full(loaded_by_transformers, monkeypatch):
    own, tokenizer = loaded_by_transformers("llama", dtype=torch.bfloat16)
    assert attnviz.load(own, tokenizer).trace(TEXT).info.dtype == "bfloat16"
    assert attnviz.load(own, tokenizer, dtype=torch.float32).dtype is torch.float32
    assert own.dtype is torch.bfloat16

    def nearly(call, *arguments, **more):
        return attend(copy.copy(call).__class__(**(vars(call) | {"scale": call.scale * 1.001})), *arguments, **more)

    monkeypatch.setattr(forward_pass, "attend", nearly)
    with pytest.raises(ModelError, match="does not reproduce this model"):
        attnviz.load(own, tokenizer)


class PackedLinear(torch.nn.Module):
    """A linear layer as quantisers leave it: weights of eight bits and a scale for each row."""

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        scale = linear.weight.detach().abs().amax(dim=1, keepdim=True) / 127
        self.register_buffer("scale", scale)
        self.register_buffer("packed", (linear.weight.detach() / scale).round().to(torch.int8))

    def forward(self, x):
        return x @ (self.packed.float() * self.scale).T


def test_packed_weights_are_held_against_their_own_eager_pass(loaded_by_transformers):
    """int8 weights in every linear layer, which are no tensors of the model's own any more."""
    own, tokenizer = loaded_by_transformers("llama")
    before, packed = load_attn(own, tokenizer), copy.deepcopy(own)
    for name in [name for name, module in own.named_modules() if "_proj" in name]:
        packed.set_submodule(name, PackedLinear(own.get_submodule(name)))
    trace = attnviz.load(packed, tokenizer).trace(TEXT, new_tokens=0)
    ids = torch.tensor([[token.id for token in trace.tokens("tgt")]])
    with torch.inference_mode():
        expected = packed(ids, output_attentions=True).attentions
    torch.testing.assert_close(trace.attn("decoder_self"), torch.cat(expected), atol=2e-5, rtol=2e-5)
    assert (trace.attn("decoder_self") - before).abs().max() > 1e-3  # and it is another model


def load_attn(own, tokenizer):
    return attnviz.load(own, tokenizer).trace(TEXT, new_tokens=0).attn("decoder_self")


@pytest.mark.parametrize(
    ("name", "config", "sizes", "kinds"),
    [
        ("GPT2ForSequenceClassification", "GPT2Config", checkpoints.DECODERS["gpt2"].sizes, 1),
        ("BertForSequenceClassification", "BertConfig", checkpoints.ENCODERS["bert"].sizes, 1),
        ("BartForSequenceClassification", "BartConfig", checkpoints.PAIRS["bart"].sizes, 3),
        ("DPRQuestionEncoder", "DPRConfig", checkpoints.ENCODERS["bert"].sizes, 1),
    ],
)
def test_a_classifier_is_shown_without_its_verdict(name, config, sizes, kinds):
    held = attnviz.load(tiny_classifier(name, config, **sizes), byte_level())
    assert not held.writes
    assert len(held.trace(TEXT).kinds) == kinds


def test_a_model_without_the_interface_is_watched(tmp_path):
    folder = architectures.ALL["bloom"](tmp_path / "bloom")
    held = attnviz.load(transformers.BloomForCausalLM.from_pretrained(folder), byte_prompts())
    assert torch.equal(held.trace(TEXT).attn("decoder_self"), load(folder, **CPU).trace(TEXT).attn("decoder_self"))


def test_what_is_no_model_with_its_tokenizer_is_said(loaded_by_transformers, checkpoint):
    own, tokenizer = loaded_by_transformers("gpt2")
    for arguments, says in (
        ((own,), "A model in memory needs its tokenizer"),
        ((torch.nn.Linear(2, 2), tokenizer), "not Linear: for another model's weights"),
        ((None, tokenizer), "not as NoneType"),
        ((object(), tokenizer), "not as object"),
        ((own, "gpt2"), r"A tokenizer is transformers' own, not its name: .*from_pretrained\('gpt2'\)"),
        ((checkpoint("gpt2"), tokenizer), "A folder or a hub id brings its own"),
    ):
        with pytest.raises(ValueError, match=says):
            attnviz.load(*arguments)
    with torch.device("meta"):
        empty = transformers.GPT2LMHeadModel(own.config)
    with pytest.raises(ModelError, match="not in memory"):
        attnviz.load(empty, tokenizer)


def test_a_model_on_a_device_of_another_kind_is_refused(loaded_by_transformers, monkeypatch):
    monkeypatch.setattr("attnviz.models.huggingface.in_memory.DEVICES", ("cuda", "mps"))
    with pytest.raises(
        ModelError, match=r"^The model is on cpu, where attnviz does not run: move it to cuda or mps\.$"
    ):
        attnviz.load(*loaded_by_transformers("gpt2"))


def test_a_model_spread_over_devices_is_refused(loaded_by_transformers, monkeypatch):
    """As a device map leaves it; no part of it is asked for, so that the devices need not be there."""
    own, tokenizer = loaded_by_transformers("gpt2")
    parts = [SimpleNamespace(device=torch.device(name), is_meta=False) for name in ("cuda:0", "cpu", "cpu")]
    monkeypatch.setattr(own, "parameters", lambda recurse=True: iter(parts))
    said = (
        "The model is spread over several devices (cpu, cuda:0), but attnviz runs a model on one "
        "device only. Please load the model without device_map."
    )
    for device in (None, "cpu"):
        with pytest.raises(ModelError, match=f"^{re.escape(said)}$"):
            attnviz.load(own, tokenizer, device=device)


def test_types_and_devices_are_torchs_own_or_their_names(checkpoint):
    for how in ({"dtype": torch.bfloat16, "device": torch.device("cpu")}, {"dtype": "bfloat16", "device": "cpu"}):
        assert attnviz.load(checkpoint("gpt2"), **how).dtype is torch.bfloat16


def test_lists_of_pairs_are_read_as_batches(model):
    first, second = ["A cat sat.", "Where is the station?"], ["It sleeps on.", "Behind it."]
    one = model("bert").trace(first, second)
    other = model("bert").trace(list(zip(first, second, strict=True)))
    alone = model("bert").trace(first[0], second[0]).attn("encoder_self")
    length = alone.shape[-1]
    for trace in (one, other):
        torch.testing.assert_close(trace.attn("encoder_self")[..., :length, :length], alone, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="There are 2 texts and 1 second sentences"):
        model("bert").trace(first, second[:1])
    with pytest.raises(ValueError, match="Give a list of texts, or a list of pairs of texts"):
        model("bert").trace([("a", "b", "c")])


def test_a_notebook_shows_what_there_is_and_no_numbers(model):
    said = repr(model("bart"))
    assert "'bart': encoder-decoder, encoder_self 2 x 5, decoder_self 3 x 3, cross 3 x 3 (layers x heads)" in said
    assert ".stepwise(text)" in said
    said = repr(attnviz.load())
    assert "<Translator 'translator-en-de-es-fr-zh': encoder-decoder, encoder_self 3 x 8" in said
    assert "writes fr, de, es, zh" in said
    assert ".trace(text, to=, tgt_text=)" in said
    run = attnviz.learn("twice", steps=2)
    assert len(repr(run)) < 300
    assert "decoder, decoder_self" in repr(attnviz.load(run))
    trace = repr(model("bart").trace("A cat sat.", tgt_text="I love you."))
    assert "<Trace of 'A cat sat.' → 'I love you.': encoder_self 2 x 5" in trace
    assert len(trace) < 300
