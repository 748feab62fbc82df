"""Outputs of real models that are easily misread: each map equals transformers' or torch's own, or is refused."""

from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models

import attnviz
from attnviz.analysis.metric_table import trace_metrics
from attnviz.models.huggingface.network.network import cache_argument
from attnviz.tracing.external.weights import BareWeights
from tests.each_case import each_case
from tests.models.huggingface.tiny_configs import tiny_config

SIZES: dict[str, Any] = {"vocab_size": 37, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
GENERATE = {"max_new_tokens": 5, "do_sample": False, "suppress_tokens": [0],
            "output_attentions": True, "return_dict_in_generate": True}  # fmt: skip
TEXT, SHORT = [3, 5, 7, 11, 13], [17, 19, 23]
PADDED = torch.tensor([TEXT, [0, 0, *SHORT]])


def made(model: type, config: Any, attention: str = "eager") -> Any:
    torch.manual_seed(3)
    return model._from_config(config, attn_implementation=attention).eval()


def gpt2_of(attention: str) -> Any:
    sizes = SIZES | {"n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 64, "initializer_range": 0.7}
    return made(transformers.GPT2LMHeadModel, transformers.GPT2Config(**sizes), attention)


@pytest.fixture(scope="module")
def gpt2() -> Any:
    return gpt2_of("eager")


@pytest.fixture(scope="module")
def bart() -> Any:
    sizes = SIZES | {"d_model": 12, "encoder_ffn_dim": 13, "decoder_ffn_dim": 13, "max_position_embeddings": 31}
    layers = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 3, "decoder_attention_heads": 3}
    more = {"decoder_start_token_id": 2, "forced_eos_token_id": None, "init_std": 0.7}
    return made(transformers.BartForConditionalGeneration, transformers.BartConfig(**sizes, **layers, **more))


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    own = Tokenizer(models.WordLevel({f"w{at}": at for at in range(37)}, unk_token="w0"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=own, pad_token="w0", eos_token="w2")


def pieces(trace: BareWeights, kind: Any = "decoder_self") -> list[str]:
    return [token.text for token in trace.query_tokens(kind)]


def expect_pass(trace: BareWeights, wanted: Any, kind: Any = "decoder_self") -> None:
    """Every layer's weights are those of transformers' own pass over these tokens alone."""
    rows, keys = trace.attn(kind).shape[-2:]
    layers = torch.stack([layer[0, :, :rows, :keys] for layer in wanted])
    torch.testing.assert_close(trace.attn(kind), layers, atol=2e-6, rtol=1e-5)


def alone(model: Any, ids: Any) -> Any:
    return model(torch.as_tensor(ids)[None], output_attentions=True).attentions


def padded(model: Any, **more: Any) -> Any:
    mask = (PADDED > 0).long()
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    return model(PADDED, attention_mask=mask, position_ids=positions, output_attentions=True, **more)


WAYS = {
    "the tokenizer's padding id": lambda out, tokenizer: (out, PADDED, {"tokenizer": tokenizer}),
    "an attention mask": lambda out, _: (out, [f"w{at}" for at in PADDED[1]], {"attention_mask": (PADDED > 0)}),
    "what the tokenizer returned": lambda out, tokenizer: (
        out.attentions, {"input_ids": PADDED, "attention_mask": PADDED > 0}, {"tokenizer": tokenizer}
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_padding_before_a_text_is_left_out_and_the_kind_is_a_decoders(gpt2: Any, tokenizer: Any, way: Any) -> None:
    given, tokens, options = way(padded(gpt2), tokenizer)
    trace = attnviz.from_tensors(given, tokens, item=1, **options)
    assert trace.kinds == ("decoder_self",)
    assert pieces(trace) == ["w17", "w19", "w23"]
    assert trace.info.notes == ("2 padding tokens are left out.",)
    expect_pass(trace, alone(gpt2, SHORT))


def test_padding_that_nothing_names_is_noted_and_no_encoders(gpt2: Any) -> None:
    out = padded(gpt2)
    words = [f"w{at}" for at in PADDED[1]]
    for given in (out, out.attentions):
        trace = attnviz.from_tensors(given, words, item=1)
        assert trace.kinds == ("decoder_self",)
        assert "2 of 5 rows of decoder_self look at later tokens (the first is row 0" in trace.info.notes[0]


def test_a_text_that_begins_with_the_padding_id_keeps_it(gpt2: Any, bart: Any, tokenizer: Any) -> None:
    ids = torch.tensor([[0, 0, *SHORT]])
    trace = attnviz.from_tensors(gpt2(ids, output_attentions=True), ids, tokenizer=tokenizer)
    assert trace.attn("decoder_self").shape[-1] == 5
    masked = attnviz.from_tensors(alone(gpt2, ids[0]), ids, tokenizer=tokenizer, attention_mask=ids > 0)
    assert masked.attn("decoder_self").shape[-1] == 5
    assert "attention_mask hides token 0, but rows give it weight" in " ".join(masked.info.notes)
    target = torch.tensor([[0, *SHORT]])  # T5 begins with its padding token
    out = bart(torch.tensor([TEXT]), decoder_input_ids=target, output_attentions=True)
    sides = {"src": torch.tensor([TEXT]), "tgt": target}
    assert len(pieces(attnviz.from_tensors(out, sides, tokenizer=tokenizer))) == 4


def test_padding_of_a_prompt_is_left_out_of_what_generate_returns(gpt2: Any, tokenizer: Any) -> None:
    out = gpt2.generate(PADDED, attention_mask=(PADDED > 0).long(), **GENERATE)
    trace = attnviz.from_tensors(out, out.sequences, tokenizer=tokenizer, item=1)
    kept = [id_ for id_ in out.sequences[1].tolist() if id_]
    assert [token.id for token in trace.tokens("tgt")] == kept
    expect_pass(trace, alone(gpt2, kept))
    assert torch.equal(trace.mask("decoder_self"), torch.ones(len(kept) - 1, len(kept) - 1).tril().bool())


def test_padding_of_a_source_is_left_out_of_its_columns(bart: Any, tokenizer: Any) -> None:
    source = torch.tensor([TEXT, [*SHORT, 0, 0]])
    target = torch.tensor([[2, 4, 6], [2, 8, 9]])
    out = bart(source, attention_mask=(source > 0).long(), decoder_input_ids=target, output_attentions=True)
    trace = attnviz.from_tensors(out, {"src": source, "tgt": target}, tokenizer=tokenizer, item=1)
    one = bart(source[1:, :3], decoder_input_ids=target[1:], output_attentions=True)
    for kind, wanted in (("encoder_self", one.encoder_attentions), ("cross", one.cross_attentions)):
        expect_pass(trace, wanted, kind)
    cross = attnviz.from_tensors(out, target, key_tokens=source, attention_mask=source > 0, tokenizer=tokenizer, item=1)
    expect_pass(cross, one.cross_attentions, "cross")


def test_steps_alone_are_taken_and_the_last_token_is_output(gpt2: Any, tokenizer: Any) -> None:
    out = gpt2.generate(torch.tensor([TEXT]), **GENERATE)
    for given in (out, out.attentions):
        trace = attnviz.from_tensors(given, out.sequences, tokenizer=tokenizer)
        assert trace.kinds == ("decoder_self",)
        expect_pass(trace, alone(gpt2, out.sequences[0]))
        assert trace.output_tokens("decoder_self")[-1].id == out.sequences[0, -1]
    shown = attnviz.show(out, out.sequences, tokenizer=tokenizer, static=True).shown
    assert torch.equal(shown.subject.trace.attn("decoder_self"), trace.attn("decoder_self"))


def test_fused_attention_gets_the_sentence_on_eager() -> None:
    fused = gpt2_of("sdpa")
    out = fused.generate(torch.tensor([TEXT]), **GENERATE)
    one = fused(torch.tensor([TEXT]), output_attentions=True)
    for given in (out, out.attentions, one, one.attentions):
        with pytest.raises(ValueError, match="output_attentions=True, loaded with attn_implementation='eager'"):
            attnviz.from_tensors(given, ["a"] * 5)


@pytest.mark.parametrize("cached", [2, 4])
def test_rows_read_before_the_first_step_are_empty_and_no_key_is_cut(gpt2: Any, cached: int) -> None:
    ids, cache = torch.tensor([TEXT]), transformers.DynamicCache()
    filled = {cache_argument(gpt2): cache}
    gpt2(ids[:, :cached], **filled)
    out = gpt2.generate(ids, **filled, **GENERATE)
    trace = attnviz.from_tensors(out, [f"t{at}" for at in out.sequences[0]])
    rows = slice(cached, None)
    wanted = torch.stack([layer[0, :, :-1, :-1] for layer in alone(gpt2, out.sequences[0])])
    torch.testing.assert_close(trace.attn("decoder_self")[:, :, rows], wanted[:, :, rows], atol=2e-6, rtol=1e-5)
    assert not trace.attn("decoder_self")[:, :, :cached].any()
    assert trace.info.notes[0].startswith(f"The first {cached} rows are empty: the model had read these tokens before")


def test_a_prompt_read_in_parts_keeps_its_newest_keys(gpt2: Any) -> None:
    out = gpt2.generate(torch.tensor([TEXT]), prefill_chunk_size=2, **GENERATE)
    trace = attnviz.from_tensors(out, [f"t{at}" for at in out.sequences[0]])
    wanted = torch.stack([layer[0, :, 4:-1, :-1] for layer in alone(gpt2, out.sequences[0])])
    torch.testing.assert_close(trace.attn("decoder_self")[:, :, 4:], wanted, atol=2e-6, rtol=1e-5)


def test_rows_that_prompt_lookup_puts_in_the_wrong_place_are_noted(gpt2: Any) -> None:
    options = GENERATE | {"max_new_tokens": 12}
    written = gpt2.generate(torch.tensor([[3, 5, 7, 3, 5, 7, 3, 5]]), **options).sequences
    prompt = torch.cat([written, written[:, :9]], dim=1)  # ends with what it wrote after its own beginning
    out = gpt2.generate(prompt, prompt_lookup_num_tokens=2, **options)
    trace = attnviz.from_tensors(out, [f"t{at}" for at in out.sequences[0]])
    assert "with assisted or prompt-lookup decoding" in " ".join(trace.info.notes)
    plain = gpt2.generate(prompt, **options)
    assert attnviz.from_tensors(plain, [f"t{at}" for at in plain.sequences[0]]).info.notes == ()


def test_one_source_serves_every_sequence_that_was_returned(bart: Any, tokenizer: Any) -> None:
    source = torch.tensor([TEXT])
    out = bart.generate(source, num_beams=3, num_return_sequences=3, **GENERATE)
    for item in range(3):
        trace = attnviz.from_tensors(out, {"src": source, "tgt": out.sequences}, tokenizer=tokenizer, item=item)
        target = [id_ for id_ in out.sequences[item].tolist() if id_]
        wanted = bart(source, decoder_input_ids=torch.tensor([target]), output_attentions=True)
        expect_pass(trace, wanted.encoder_attentions, "encoder_self")
        expect_pass(trace, wanted.decoder_attentions)
        expect_pass(trace, wanted.cross_attentions, "cross")


def test_the_class_of_an_output_says_the_kind(gpt2: Any) -> None:
    """The first layer's rows alone do not: a text of one token looks neither back nor ahead."""
    assert attnviz.from_tensors(gpt2(torch.tensor([[3]]), output_attentions=True), ["a"]).kinds == ("decoder_self",)
    sizes = {"hidden_size": 12, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 13}
    bert = made(transformers.BertForMaskedLM, transformers.BertConfig(vocab_size=37, **sizes))
    causal = torch.ones(1, 1, 4, 4).tril().bool()
    out = bert(torch.tensor([[3, 5, 7, 9]]), attention_mask=causal, output_attentions=True)
    assert attnviz.from_tensors(out, list("abcd")).kinds == ("encoder_self",)


def longformer(window: int, **how: Any) -> Any:
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 13}
    config = transformers.LongformerConfig(vocab_size=37, attention_window=window, max_position_embeddings=64, **sizes)
    return made(transformers.LongformerModel, config)(torch.tensor([TEXT]), output_attentions=True, **how)


def led(**how: Any) -> Any:
    sizes = SIZES | {"d_model": 12, "encoder_ffn_dim": 13, "decoder_ffn_dim": 13, "attention_window": 4}
    layers = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 3, "decoder_attention_heads": 3}
    model = made(transformers.LEDForConditionalGeneration, transformers.LEDConfig(**sizes, **layers))
    return model(torch.tensor([TEXT]), decoder_input_ids=torch.tensor([[2, 4]]), output_attentions=True, **how)


def xlnet() -> Any:
    config = transformers.XLNetConfig(vocab_size=37, d_model=12, n_layer=2, n_head=3, d_inner=13)
    hidden, target = torch.zeros(1, 5, 5), torch.zeros(1, 1, 5)
    hidden[:, :, -1] = target[0, 0, -1] = 1
    model = made(transformers.XLNetLMHeadModel, config)
    return model(torch.tensor([TEXT]), perm_mask=hidden, target_mapping=target, output_attentions=True)


def swin() -> Any:
    sizes = {"image_size": 16, "patch_size": 2, "window_size": 2, "embed_dim": 6, "depths": [1], "num_heads": [3]}
    model = made(transformers.SwinModel, transformers.SwinConfig(**sizes))
    return model(torch.zeros(1, 3, 16, 16), output_attentions=True)


def squeezebert() -> Any:
    sizes = {"hidden_size": 12, "embedding_size": 12, "num_hidden_layers": 1, "num_attention_heads": 3}
    groups = dict.fromkeys(("q_groups", "k_groups", "v_groups", "post_attention_groups"), 1)
    more = {"intermediate_size": 12, "intermediate_groups": 1, "output_groups": 1}
    config = transformers.SqueezeBertConfig(vocab_size=37, **sizes, **groups, **more)
    return made(transformers.SqueezeBertModel, config)(torch.tensor([TEXT]), output_attentions=True)


def pegasus_x() -> Any:
    sizes = SIZES | {
        "d_model": 12,
        "encoder_ffn_dim": 13,
        "decoder_ffn_dim": 13,
        "block_size": 4,
        "num_global_tokens": 2,
    }
    layers = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 3, "decoder_attention_heads": 3}
    model = made(transformers.PegasusXModel, transformers.PegasusXConfig(**sizes, **layers))
    return model(torch.tensor([TEXT]), decoder_input_ids=torch.tensor([[2, 4]]), output_attentions=True)


def funnel() -> Any:
    sizes = {"block_sizes": [1, 1], "d_model": 12, "n_head": 3, "d_head": 4, "d_inner": 13, "num_decoder_layers": 1}
    return made(transformers.FunnelModel, transformers.FunnelConfig(vocab_size=37, **sizes))(
        torch.tensor([[*TEXT, *SHORT]]), output_attentions=True
    )


FIRST = torch.tensor([[1, 0, 0, 0, 0]])
NO_MAPS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "Longformer": (lambda: longformer(4, global_attention_mask=FIRST), {}, "some tokens have global attention"),
    "its layers alone": (lambda: longformer(4).attentions, {}, "The columns are a window of neighbours around each"),
    "LED's encoder": (lambda: led(global_attention_mask=FIRST), {"kind": "encoder_self"}, "have global attention"),
    "XLNet's streams": (xlnet, {}, "its content stream and of its query stream"),
    "its layers alone, two streams": (lambda: xlnet().attentions, {}, "its content stream and of its query stream"),
    "Swin's windows": (swin, {}, "each window of an image, not of texts"),
    "scores": (squeezebert, {}, "values below 0, so these are not attention weights. If they are scores"),
    "dictionaries": (pegasus_x, {"kind": "encoder_self"}, "is not attention from token to token .*layer 0 is a dict"),
    "pooled lengths": (funnel, {}, "rows for .* tokens.* pool or compress their text"),
}


@each_case(("given", "options", "said"), NO_MAPS.values(), ids=NO_MAPS)
def test_maps_whose_columns_are_not_the_tokens_are_refused(given: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        attnviz.from_tensors(given(), list("abcde"), **options)
    assert "\n" not in str(refused.value)


def test_what_is_of_tokens_in_such_an_output_is_drawn() -> None:
    out = led()
    expect_pass(attnviz.from_tensors(out, ["a", "b"], kind="decoder_self"), out.decoder_attentions)
    expect_pass(attnviz.from_tensors(out, ["a", "b"], key_tokens=list("abcde")), out.cross_attentions, "cross")
    content = [layer[0] for layer in xlnet().attentions]
    expect_pass(attnviz.from_tensors(content, list("abcde")), content, "encoder_self")


@pytest.mark.parametrize(("options", "n_more", "named"), [
    ({"add_zero_attn": True}, 1, "bias_kv or zero_attn"),
    ({"add_bias_kv": True}, 1, "bias_kv or zero_attn"),
    ({"add_zero_attn": True, "add_bias_kv": True}, 2, "bias_kv, zero_attn"),
])  # fmt: skip
def test_keys_that_multi_head_attention_appends_are_named(options: Any, n_more: int, named: str) -> None:
    layer, x = torch.nn.MultiheadAttention(12, 3, batch_first=True, **options), torch.randn(1, 5, 12)
    _, weights = layer(x, x, x, average_attn_weights=False)
    with pytest.raises(ValueError, match=f"5 rows and {5 + n_more} columns, .* the last of them {named}"):
        attnviz.from_tensors(weights, list("abcde"))
    names = [*"abcde", *["more"] * n_more]
    expect_pass(
        attnviz.from_tensors(weights, list("abcde"), key_tokens=names, kind="cross"), [weights.detach()], "cross"
    )


def test_averaged_heads_of_a_batch_are_asked_about_and_layers_stay_layers() -> None:
    layer, x = torch.nn.MultiheadAttention(12, 3, batch_first=True), torch.randn(2, 5, 12)
    averaged = [layer(x * size, x, x)[1].detach() for size in (1, 2, 3)]
    assert (
        "(2, 5, 5) was taken for 2 heads of one text" in attnviz.from_tensors(averaged[0], list("abcde")).info.notes[0]
    )
    trace = attnviz.from_tensors(averaged, list("abcde"), item=1)
    assert trace.shape("encoder_self") == (3, 1)
    assert torch.equal(trace.attn("encoder_self")[:, 0], torch.stack(averaged)[:, 1])
    stacked = attnviz.from_tensors(torch.stack(averaged), list("abcde"), item=1)
    assert "(3, 2, 5, 5) was taken as the axis of 3 texts" in stacked.info.notes[0]


def test_two_stacks_by_name_are_not_sorted_into_each_other() -> None:
    maps = torch.rand(4, 1, 3, 5, 5).softmax(-1)
    cache = {f"{stack}blocks.{at}.attn.softmax": maps[at] for at in range(2) for stack in ("", "vision_encoder.")}
    with pytest.raises(ValueError, match=r"2 stacks \(blocks.N.attn.softmax, vision_encoder.blocks.N.attn.softmax\)"):
        attnviz.from_tensors(cache, list("abcde"))
    hooks = {"decoder.0.attn.hook_pattern": maps[0], "decoder.0.attn.hook_cross_pattern": maps[1]}
    trace = attnviz.from_tensors(hooks, {"src": list("abcde"), "tgt": list("abcde")})
    assert trace.kinds == ("decoder_self", "cross")
    assert torch.equal(trace.attn("cross", layer=0), maps[1, 0])


def test_packed_texts_have_a_first_token_each(gpt2: Any) -> None:
    """Two texts in one row of a batch, as padding-free training packs them; the layers are transformers' own."""
    ids = torch.tensor([[*TEXT, *SHORT]])
    block = torch.block_diag(torch.ones(5, 5).tril(), torch.ones(3, 3).tril()).bool()[None, None]
    added = torch.zeros(1, 1, 8, 8).masked_fill(~block, torch.finfo(torch.float32).min)
    positions = torch.tensor([[*range(5), *range(3)]])
    out = gpt2(ids, attention_mask=added, position_ids=positions, output_attentions=True)
    trace = attnviz.from_tensors(out, [f"t{at}" for at in ids[0]])
    assert "2 blocks that do not look at each other" in trace.info.notes[0]
    measured = trace_metrics(trace)["first_token_mass"].to_numpy().reshape(2, 3)
    apart = [torch.stack(alone(gpt2, text))[:, 0, :, :, 0] for text in (TEXT, SHORT)]
    wanted = torch.cat(apart, dim=-1).mean(dim=-1).detach()
    torch.testing.assert_close(torch.tensor(measured), wanted.double(), atol=1e-5, rtol=1e-4)


def test_a_mask_that_forbids_cells_with_weight_is_left_out_there() -> None:
    even, mask = torch.full((1, 1, 3, 3), 1 / 3), torch.ones(3, 3).tril().bool()
    trace = attnviz.from_tensors(even, list("abc"), kind="decoder_self", mask=mask)
    assert "forbids 3 cells that hold weight, the first at row 0, key 1" in trace.info.notes[0]
    assert trace.mask("decoder_self").all()
    assert 0 <= trace_metrics(trace)["diagonality"].item() <= 1


@pytest.mark.parametrize("weights", [[[3.0, -2.0], [0.5, 0.5]], [[1.0, 1.0], [0.0, 1.0]]])
def test_values_that_are_no_weights_have_no_metrics(weights: list[list[float]]) -> None:
    measured = trace_metrics(attnviz.from_tensors([weights, [[1.0, 0.0], [0.4, 0.6]]], ["a", "b"]))
    columns = ["entropy", "mean_distance", "diagonality", "previous_token", "first_token_mass"]
    assert measured[columns].isna().to_numpy().all(axis=1).tolist() == [True, False]


def test_the_mask_token_that_takes_its_space_is_special() -> None:
    tokens = attnviz.from_tensors(torch.eye(3), ["<s>", " <mask>", "a"]).query_tokens("encoder_self")
    assert [token.is_special for token in tokens] == [True, True, False]


def tiny(name: str, n_tokens: int = 10, **given: Any) -> Any:
    """Run a small random model of a class over a text, and over a target of three tokens where it has a decoder."""
    kind = getattr(transformers, name)
    model = made(kind, tiny_config(kind.config_class, vocab_size=37, **given))
    target = {"decoder_input_ids": torch.tensor([[2, 4, 9]])} if model.config.is_encoder_decoder else {}
    return model(torch.arange(n_tokens)[None] % 31 + 5, output_attentions=True, **target)


def only_compressed(out: Any) -> Any:
    """Leave out the layers whose columns are tokens."""
    return type(out)(attentions=tuple(layer for layer in out.attentions if layer.shape[-2] != layer.shape[-1]))


NOT_FROM_TOKEN_TO_TOKEN = {
    "landmarks": (
        lambda: tiny("NystromformerModel", 8, num_landmarks=4, segment_means_seq_len=8),
        "are 8 × 4 .* the tokens ask for 8 × 8",
    ),
    "their layers": (
        lambda: tiny("NystromformerModel", 8, num_landmarks=4, segment_means_seq_len=8).attentions,
        "are 8 × 4 .* the tokens ask for 8 × 8",
    ),
    "pooled characters": (
        lambda: tiny("CanineModel"),
        "layer 1 has 2 rows for 10 tokens.*pool or compress their text",
    ),
    "their layers alone": (
        lambda: tiny("CanineModel").attentions,
        "have different shapes .* pool or compress their text",
    ),
    "compressed keys": (lambda: tiny("DeepseekV4ForCausalLM"), "layer 2 has 12 columns for 10 tokens"),
    "compressed keys in every layer": (
        lambda: only_compressed(tiny("DeepseekV4ForCausalLM")),
        "10 rows and 12 columns for 10 tokens, so the model also attends to keys that are not tokens of this text",
    ),
    "states": (lambda: tiny("MiniMaxForCausalLM"), "layer 1 has 16 rows for 10 tokens.* or that return hidden states"),
    "states as large as the text": (
        lambda: tiny("MiniMaxForCausalLM", 16),
        "values below 0, so these are not attention",
    ),
    "hidden states": (lambda: tiny("YosoModel", 64), r"layer 0 has the shape \(1, 64, 64\), and not \(texts, heads"),
    "hidden states of RWKV": (lambda: tiny("RwkvForCausalLM", 64), "RWKV has a recurrent state instead of"),
}


@pytest.mark.filterwarnings("ignore")  # transformers' own, of configs smaller than any that is published
@pytest.mark.parametrize(("given", "said"), NOT_FROM_TOKEN_TO_TOKEN.values(), ids=NOT_FROM_TOKEN_TO_TOKEN)
@torch.no_grad()
def test_what_is_not_attention_from_token_to_token_is_refused_in_a_sentence(given: Any, said: str) -> None:
    out = given()
    layers = getattr(out, "attentions", out)
    with pytest.raises(ValueError, match=said) as refused:
        attnviz.from_tensors(out, [f"t{at}" for at in range(layers[0].shape[-2])])
    assert "\n" not in str(refused.value)


@pytest.mark.filterwarnings("ignore")
@torch.no_grad()
def test_layers_of_attention_beside_layers_of_states_can_be_given_alone() -> None:
    out = tiny("MiniMaxForCausalLM")
    wanted = [layer for layer in out.attentions if layer.shape[-1] == 10]
    trace = attnviz.from_tensors(wanted, [f"t{at}" for at in range(10)])
    expect_pass(trace, wanted)
    assert not trace.info.notes


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sort", ["Longformer", "Nystromformer"])
@torch.no_grad()
def test_maps_of_a_class_are_the_softmax_of_its_own_queries_and_keys(sort: str) -> None:
    """Longformer's band has a column for each neighbour; Nystromformer with a landmark for each token is exact."""
    kind, caught = getattr(transformers, f"{sort}Model"), {}
    model = made(kind, tiny_config(kind.config_class, vocab_size=37, attention_window=4) if sort == "Longformer" else
                 tiny_config(kind.config_class, vocab_size=37, num_landmarks=8, segment_means_seq_len=8))  # fmt: skip
    own = next(module for name, module in model.named_modules() if name.endswith("layer.0.attention.self"))
    for part in ("query", "key"):
        getattr(own, part).register_forward_hook(
            lambda module, given, made, part=part: caught.update({part: made.clone().flatten(0, -2)})
        )
    trace = attnviz.from_tensors(
        model(torch.arange(8)[None] + 5, output_attentions=True), [f"t{at}" for at in range(8)]
    )
    query, key = (caught[part].view(8, 4, -1).transpose(0, 1) for part in ("query", "key"))
    scores = query @ key.mT / query.shape[-1] ** 0.5
    places = torch.arange(8)
    if sort == "Longformer":
        scores = scores.masked_fill((places - places[:, None]).abs() > 2, -torch.inf)
    torch.testing.assert_close(trace.attn("encoder_self", layer=0), scores.softmax(-1), atol=1e-5, rtol=1e-5)
    assert all("attends only to its window" in note for note in trace.info.notes)
    assert len(trace.info.notes) == (sort == "Longformer")


@pytest.mark.filterwarnings("ignore")
@torch.no_grad()
def test_one_softmax_over_target_and_source_is_told_and_no_flaw() -> None:
    out = tiny("T5Gemma2ForConditionalGeneration")
    source, target = [f"s{at}" for at in range(10)], ["a", "b", "c"]
    trace = attnviz.from_tensors(out, {"src": source, "tgt": target})
    expect_pass(trace, out.decoder_attentions)
    expect_pass(trace, out.cross_attentions, "cross")
    assert [note.split(":")[0] for note in trace.info.notes] == [
        "The decoder has one softmax over the tokens of its target and of the source"
    ]
    alone = attnviz.from_tensors(out, target, kind="decoder_self")
    assert "do not sum to 1" in alone.info.notes[0]
