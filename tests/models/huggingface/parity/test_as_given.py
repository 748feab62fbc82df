"""What is shown is held against the model as it was given: its own attention, wrapper, hooks and `forward`."""

import copy
import functools
import types

import pytest
import torch
import transformers
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

import attnviz
from attnviz.models.huggingface import ModelError, as_given, parity
from attnviz.models.huggingface.as_given import GivenModel
from attnviz.models.huggingface.network.network import Batch, cache_argument
from attnviz.transformer.probe import listen_to_sites
from tests.models.huggingface.checkpoints import DECODERS, ENCODERS, PAIRS, random_model
from tests.models.huggingface.tokenizers_made import byte_level, byte_prompts, pieces, word_pieces

pytestmark = pytest.mark.computes

TEXT = "The quick brown fox jumps over the dog."
LONG = " ".join([TEXT] * 3)
CLOSE = {"atol": 5e-5, "rtol": 5e-5}
SIZES = {
    "Falcon": {"hidden_size": 40, "num_hidden_layers": 3, "num_attention_heads": 5, "num_kv_heads": 1},
    "FSMT": PAIRS["bart"].sizes | {"langs": ["en", "de"], "src_vocab_size": 113, "tgt_vocab_size": 113},
    "BigBird": ENCODERS["bert"].sizes | {"attention_type": "block_sparse", "block_size": 4, "num_random_blocks": 1},
    "BigBirdPegasus": PAIRS["bart"].sizes | {"attention_type": "block_sparse", "block_size": 4, "num_random_blocks": 1},
    "Bart": PAIRS["bart"].sizes,
    "Bert": ENCODERS["bert"].sizes,
    "GPT2": DECODERS["gpt2"].sizes,
}  # fmt: skip


def made(name, tokenizer, **changed):
    """Build a random model with its tokenizer, with the attention implementation that transformers chooses."""
    family = next(family for family in sorted(SIZES, key=len, reverse=True) if name.startswith(family))
    text = tokenizer()
    ids = {f"{kind}_token_id": getattr(text, f"{kind}_token_id") for kind in ("pad", "bos", "eos")}
    sizes = {"vocab_size": len(text), "max_position_embeddings": 150, "n_positions": 150} | SIZES[family] | changed
    sizes |= {key: 150 for key in ("max_position_embeddings", "n_positions") if key in sizes}
    return random_model(name, getattr(transformers, f"{family}Config")(**(ids | sizes))), text


TINY = {"hidden_size": 24, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 19,
        "intermediate_size": 23, "d_model": 24, "n_embd": 24, "n_head": 4, "head_dim": 6, "encoder_layers": 2,
        "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "embedding_size": 12,
        "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1}  # fmt: skip


gpt2 = functools.partial(made, "GPT2LMHeadModel", byte_prompts)


def trace(held, text=TEXT):
    return held.trace(text, new_tokens=0 if held.inputs.is_prompt else None)


@torch.inference_mode()
def own_pass(model, trace, **how):
    """Run transformers' own class on the ids of a trace, as it was given."""
    sentence = trace.sentences[0]
    src, tgt = (torch.tensor([[token.id for token in side]]) for side in (sentence.src, sentence.tgt_in))
    both = {"decoder_input_ids": tgt} if sentence.src and sentence.tgt else {}
    return copy.deepcopy(model).eval()(input_ids=src if sentence.src else tgt, **both, **how)


@pytest.mark.parametrize("alibi", [False, True])
def test_falcon_in_memory_is_shown_with_its_own_fused_attention(alibi):
    model, text = made("FalconForCausalLM", byte_prompts, alibi=alibi)
    assert model.config._attn_implementation == "sdpa"
    found = trace(attnviz.load(model, text))
    torch.testing.assert_close(found.logits, own_pass(model, found).logits, **CLOSE)
    assert not found.attn("decoder_self").triu(1).any()
    assert model.config._attn_implementation == "sdpa"


@torch.inference_mode()
def test_rows_of_fsmts_decoder_are_those_of_its_steps():
    """In one pass with use_cache=True, its default, it makes no causal mask; `generate` computes it step by step."""
    model, text = made("FSMTForConditionalGeneration", pieces)
    found = attnviz.load(model, text).trace(TEXT, tgt_text="A cat sat on the mat.")
    sentence, cache, name = found.sentences[0], None, cache_argument(model)
    src, tgt = (torch.tensor([[token.id for token in side]]) for side in (sentence.src, sentence.tgt_in))
    for at in range(tgt.shape[1]):
        out = model(src, decoder_input_ids=tgt[:, at : at + 1], **{name: cache}, output_attentions=True)
        cache = getattr(out, name)
        for layer, row in enumerate(out.decoder_attentions):
            torch.testing.assert_close(found.attn("decoder_self")[layer, :, at, : at + 1], row[0, :, 0], **CLOSE)
    assert any("makes no causal mask" in note for note in found.info.notes)


@pytest.mark.parametrize(
    ("name", "tokenizer"), [("BigBirdForMaskedLM", byte_level), ("BigBirdPegasusForConditionalGeneration", pieces)]
)
def test_attention_in_blocks_is_shown_where_a_text_is_short_and_refused_where_it_is_long(name, tokenizer):
    """A short text switches such a model to full attention for good: the model that was given stays as it was."""
    model, text = made(name, tokenizer)
    held = attnviz.load(model, text)
    given = {"tgt_text": "A cat."} if held.inputs.takes_target else {}
    short = held.trace(TEXT, **given)
    assert torch.equal(held.trace(TEXT, **given).attn("encoder_self"), short.attn("encoder_self"))
    eager = own_pass(model, short, use_cache=False) if given else own_pass(model, short)
    logits = short.logits if short.logits is not None else eager.logits
    torch.testing.assert_close(logits, eager.logits, **CLOSE)
    for _ in range(2):
        with pytest.raises(ModelError, match=r"attends only within blocks \(attention_type='block_sparse'\)"):
            held.trace(LONG, **given)
    assert torch.equal(held.trace(TEXT, **given).attn("encoder_self"), short.attn("encoder_self"))
    kinds = {getattr(module, "attention_type", "block_sparse") for module in model.modules()}
    assert kinds == {"block_sparse"}


@pytest.mark.parametrize(
    ("name", "tokenizer"), [("BartForConditionalGeneration", byte_level), ("BertModel", word_pieces)]
)
@pytest.mark.parametrize("is_causal", [False, True])
def test_an_implementation_that_computes_something_else_than_eager_is_refused(name, tokenizer, is_causal):
    """Only the fused kernels read `is_causal`, and only of a text without padding."""
    model, text = made(name, tokenizer)
    for module in model.get_encoder().modules() if name.startswith("Bart") else model.modules():
        if hasattr(module, "is_causal"):
            module.is_causal = is_causal
    if not is_causal:
        assert not attnviz.load(model, text).as_given.notes
        return
    with pytest.raises(ModelError, match="With its attention implementation 'sdpa' this model computes something else"):
        attnviz.load(model, text)
    model.set_attn_implementation("eager")
    assert attnviz.load(model, text).kinds


@pytest.mark.parametrize("training", [False, True])
def test_a_replaced_forward_does_not_run_the_original_with_dropout(training):
    model, text = gpt2()
    inner = model.forward
    model.forward = lambda *args, **kwargs: inner(*args, **kwargs)
    model.train(training)
    held = attnviz.load(model, text)
    found = trace(held)
    assert torch.equal(trace(held).attn("decoder_self"), found.attn("decoder_self"))
    del model.forward
    torch.testing.assert_close(found.logits, own_pass(model, found).logits, **CLOSE)
    assert model.training is training
    said = [note for note in found.info.notes if "`forward` of the model was replaced" in note]
    assert [note.startswith("Not checked against the model as it was given, because") for note in said] == [
        True
    ] * training


def test_a_replaced_forward_that_computes_something_else_is_refused_by_name():
    model, text = gpt2()
    inner = model.transformer.h[1].mlp.forward
    model.transformer.h[1].mlp.forward = lambda hidden: inner(hidden) * 2
    with pytest.raises(ModelError, match=r"`forward` of transformer\.h\.1\.mlp was replaced by a function"):
        attnviz.load(model, text)


@pytest.mark.parametrize("change", [0, 1e-4])
def test_last_hidden_states_may_differ_by_rounding_alone(change):
    """Of a model without a head. Rounding of these numbers moves them by some 1e-6 of their size."""
    model, text = made("BertModel", word_pieces)
    norm = model.encoder.layer[-1].output.LayerNorm
    inner = norm.forward
    norm.forward = lambda hidden: inner(hidden) * (1 + change)
    if not change:
        assert not attnviz.load(model, text).as_given.notes
        return
    with pytest.raises(ModelError, match=r"`forward` of encoder\.layer\.2\.output\.LayerNorm was replaced"):
        attnviz.load(model, text)


def test_a_forward_bound_to_its_module_is_copied_with_it():
    """As accelerate wraps models, and as attention is patched: the copy runs the patch, in its own mode."""

    def doubled(self, hidden):
        return type(self).forward(self, hidden) * 2

    model, text = gpt2()
    mlp = model.transformer.h[1].mlp
    mlp.forward = types.MethodType(doubled, mlp)
    model.train()
    found = trace(attnviz.load(model, text))
    torch.testing.assert_close(found.logits, own_pass(model, found).logits, **CLOSE)
    assert not found.info.notes


def test_hooks_run_once_when_a_model_is_opened_and_in_no_trace():
    model, text = gpt2()
    seen = []
    model.transformer.h[1].register_forward_hook(lambda module, args, output: seen.append(module))
    held = attnviz.load(model, text)
    assert len(seen) == 1
    for asked in (TEXT, LONG):
        trace(held, asked)
    assert len(seen) == 1
    assert len(model.transformer.h[1]._forward_hooks) == 1


def test_a_hook_that_steers_the_model_is_refused_by_name():
    model, text = gpt2()
    away = torch.randn(35, generator=torch.Generator().manual_seed(1))

    def steer(module, args, output):
        return (output[0] + away, *output[1:]) if isinstance(output, tuple) else output + away

    handle = model.transformer.h[1].register_forward_hook(steer)
    with pytest.raises(ModelError, match=r"A hook on transformer\.h\.1 changes what this model computes"):
        attnviz.load(model, text)
    handle.remove()
    assert attnviz.load(model, text).kinds


@pytest.fixture
def implementation(monkeypatch):
    """Register an attention implementation for one test, which computes what a function makes of sdpa's."""

    def register(change):
        def attention(module, query, key, value, attention_mask, **how):
            context, _ = sdpa_attention_forward(module, query, key, value, attention_mask, **how)
            return change(context), None

        monkeypatch.setitem(AttentionInterface._global_mapping, "changed", attention)
        monkeypatch.setitem(AttentionMaskInterface._global_mapping, "changed", sdpa_mask)
        model, text = gpt2()
        model.set_attn_implementation("changed")
        return model, text

    return register


@pytest.fixture
def partly(monkeypatch):
    """Let only the first layers read texts of more than 33 tokens, if all layers agree on 16."""
    monkeypatch.setattr(as_given, "_PARTLY", 33)
    monkeypatch.setattr(as_given, "_WHOLE", 16)


@pytest.mark.parametrize("logits", [True, False])
def test_a_longer_text_is_compared_once(implementation, logits, monkeypatch):
    """A short text at the next power of two, a long text at its own length, in one pass beside the shown pass."""
    lengths, passes = [], []
    held = attnviz.load(*implementation(lambda context: lengths.append(context.shape[1]) or context))
    opened, forward = set(lengths), transformers.GPT2Model.forward
    lengths.clear()

    @functools.wraps(forward)
    def counted(self, input_ids=None, **how):
        passes.append(input_ids.shape[1])
        return forward(self, input_ids, **how)

    monkeypatch.setattr(transformers.GPT2Model, "forward", counted)
    for text in (TEXT, TEXT, TEXT[:-3], LONG, LONG):
        held.trace(text, new_tokens=0, logits=logits)
    assert opened == {8}
    assert lengths == [32] * 3 + [71] * 3  # a pass of three layers each
    short, cut = (len(held.text.encode(text).ids) for text in (TEXT, TEXT[:-3]))
    assert sorted(passes) == sorted([short, short, cut, 32, 32, 71, 71, 71])  # those with 71: shown, as given, shown


@pytest.mark.usefixtures("partly")
def test_of_a_much_longer_text_only_the_first_layer_is_compared(implementation):
    lengths: list[int] = []
    held = attnviz.load(*implementation(lambda context: lengths.append(context.shape[1]) or context))
    assert held.as_given.first_layers == "transformer.h.0"
    lengths.clear()
    for text in (LONG, LONG, LONG[:-1], LONG + TEXT):
        trace(held, text)
    assert lengths == [16] * 3 + [71, 94]


def test_the_first_layers_include_one_of_each_kind():
    late = ["full_attention", "full_attention", "sliding_attention", "full_attention"]
    names, more = {}, {
        "Llama": {}, "Mistral": {"sliding_window": 7}, "GPT2": {"n_layer": 4}, "Bert": {}, "Bart": {}, "Albert": {},
        "Qwen2": {"use_sliding_window": True, "sliding_window": 7, "layer_types": late}, "Gemma2": {},
        "SmolLM3": {"no_rope_layers": [1, 0, 1, 1]}, "Cohere2": {"sliding_window_pattern": 4},
    }  # fmt: skip
    for name, sizes in more.items():
        config = getattr(transformers, f"{name}Config")(**(TINY | sizes))
        model = getattr(transformers, f"{name}Model")(config).eval()
        both = name == "Bart"
        ids = torch.arange(2, 8)[None]
        sample, target = Batch(ids, torch.ones_like(ids)), Batch(ids[:, :5], torch.ones_like(ids[:, :5]))
        names[name] = parity.install_attention(model, sample, target if both else None).last_new_layer
    assert names == {
        "Llama": "layers.0", "Mistral": "layers.0", "GPT2": "h.0", "Bert": "encoder.layer.0", "Bart": "", "Albert": "",
        "Qwen2": "layers.2", "SmolLM3": "layers.1", "Gemma2": "layers.1", "Cohere2": "",
    }  # fmt: skip


def test_a_step_after_the_check_finds_a_model_that_counts_its_steps_from_zero(monkeypatch):
    """The step goes on from the cache of the pass as given; where it differs, the network tells each step its place."""
    model, text = gpt2()
    forward = transformers.GPT2Model.forward
    assert not attnviz.load(model, text).network.tells_positions

    @functools.wraps(forward)
    def counting_from_zero(self, input_ids=None, position_ids=None, **how):
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1])[None]
        return forward(self, input_ids, position_ids=position_ids, **how)

    monkeypatch.setattr(transformers.GPT2Model, "forward", counting_from_zero)
    held = attnviz.load(model, text)
    assert held.network.tells_positions
    last = list(held.stepwise(TEXT, new_tokens=3))[-1]
    torch.testing.assert_close(last.logits, held.rerun(last.trace).logits[0, -1], **CLOSE)


def test_the_check_keeps_no_weights_where_the_models_config_asks_for_them(monkeypatch):
    """Weights of all layers of a long text would be layers x heads x length x length."""
    model, text = gpt2()
    model.set_attn_implementation("eager")
    model.config.output_attentions = model.config.output_hidden_states = True
    ids, returned = torch.tensor([text(LONG).input_ids]), []
    assert model(ids).attentions
    monkeypatch.setattr(parity, "output_of", lambda out: returned.append(out) or out.logits)
    GivenModel(model).run(Batch(ids, torch.ones_like(ids)), None, last_only=True)
    assert [out.logits.shape[1] for out in returned] == [1]
    assert not any(out.attentions or out.hidden_states for out in returned)


def test_a_run_is_ended_between_two_layers_of_the_check(implementation):
    """As Stop on a page does, by an exception that is no `Exception`."""
    computed, heard = [], []

    def stop(site):
        heard.append(site.layer)
        if len(heard) > 4:  # three layers of the shown pass, then the second of the model as it was given
            raise KeyboardInterrupt

    held = attnviz.load(*implementation(lambda context: computed.append(context.shape[1]) or context))
    computed.clear()
    with listen_to_sites(stop), pytest.raises(KeyboardInterrupt):
        trace(held, LONG)
    assert heard == [0, 1, 2, 0, 1]
    assert computed == [71]
    assert trace(held, LONG).kinds


@pytest.mark.parametrize("rows", ["all layers", "first layers"])
def test_a_text_that_is_computed_otherwise_because_it_is_longer_is_refused(implementation, rows, request):
    if rows == "first layers":
        request.getfixturevalue("partly")
    held = attnviz.load(*implementation(lambda context: context * (1 if context.shape[1] <= 40 else 1.01)))
    assert trace(held).kinds  # checked at 32 tokens
    for logits in (True, False):
        with pytest.raises(ModelError, match="attention implementation 'changed' this model computes something else"):
            held.trace(LONG, new_tokens=0, logits=logits)
        with pytest.raises(ModelError, match="attention implementation 'changed'"):
            held.stepwise(LONG).__next__()
    assert trace(held, f"{TEXT} {TEXT[:12]}").kinds  # 64 tokens differ, these 35 do not


def test_a_pass_of_its_own_that_fails_is_a_note(implementation):
    def fail(context):
        raise RuntimeError("this kernel needs a GPU")

    found = trace(attnviz.load(*implementation(fail)))
    said = "Not checked against the model as it was given, because one more pass fails (this kernel needs a GPU)."
    assert said in found.info.notes


@pytest.mark.parametrize("is_one", [False, True])
def test_two_stacks_of_bert_are_shown_also_where_they_are_one(is_one):
    encoder, text = made("BertModel", word_pieces)
    config = copy.deepcopy(encoder.config)
    config.is_decoder = config.add_cross_attention = True
    decoder = random_model("BertLMHeadModel", config)
    model = transformers.EncoderDecoderModel(encoder=decoder.bert if is_one else encoder, decoder=decoder).eval()
    model.config.decoder_start_token_id, model.config.pad_token_id = 2, text.pad_token_id
    model.config.vocab_size = len(text)
    found = attnviz.load(model, text).trace(TEXT, tgt_text=TEXT[:20])
    torch.testing.assert_close(found.logits, own_pass(model, found, use_cache=False).logits, **CLOSE)
    assert {kind: found.shape(kind) for kind in found.kinds} == dict.fromkeys(found.kinds, (3, 5))
