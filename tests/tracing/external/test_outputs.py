"""What transformers and others return, taken as it is: equal to a pass of transformers' own, misfits asked about."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models

import attnviz
from attnviz.tracing.external.weights import BareWeights
from tests.each_case import each_case
from tests.models.huggingface import tokenizers_made

SRC, TGT = ["[CLS]", "a", "b", "c", "[SEP]"], ["<s>", "x", "y"]
SIZES: dict[str, Any] = {"vocab_size": 37, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}


def eager(model: type, config: Any) -> Any:
    torch.manual_seed(3)
    return model._from_config(config, attn_implementation="eager").eval()


@pytest.fixture(scope="module")
def gpt2() -> Any:
    sizes = SIZES | {"n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 31, "initializer_range": 0.7}
    return eager(transformers.GPT2LMHeadModel, transformers.GPT2Config(**sizes))


@pytest.fixture(scope="module")
def bart() -> Any:
    sizes = SIZES | {"d_model": 12, "encoder_ffn_dim": 13, "decoder_ffn_dim": 13, "max_position_embeddings": 31}
    layers = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 3, "decoder_attention_heads": 3}
    more = {"decoder_start_token_id": 2, "forced_eos_token_id": None, "init_std": 0.7}
    return eager(transformers.BartForConditionalGeneration, transformers.BartConfig(**sizes, **layers, **more))


def words(ids: torch.Tensor) -> list[str]:
    return [f"t{id_}" for id_ in ids.tolist()]


def expect_close(trace: BareWeights, kind: Any, wanted: Any, item: int = 0) -> None:
    """Every layer's weights are those that transformers gave for these very tokens in one pass."""
    n_rows = trace.attn(kind).shape[-2]
    layers = torch.stack([layer[item] for layer in wanted])[..., :n_rows, : trace.attn(kind).shape[-1]]
    torch.testing.assert_close(trace.attn(kind), layers.float(), atol=2e-6, rtol=1e-5)


def test_an_encoders_batch_is_asked_which_text() -> None:
    config = transformers.BertConfig(
        vocab_size=37, hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=13
    )
    out = eager(transformers.BertModel, config)(torch.arange(15).view(3, 5), output_attentions=True)
    with pytest.raises(ValueError, match=r"contains 3 texts\. Please choose one of them with item=0 to 2"):
        attnviz.from_tensors(out, SRC)
    trace = attnviz.from_tensors(out, [SRC, SRC[::-1], SRC], item=1)
    assert trace.kinds == ("encoder_self",)
    assert [token.text for token in trace.query_tokens("encoder_self")] == SRC[::-1]
    expect_close(trace, "encoder_self", out.attentions, item=1)
    assert torch.equal(
        trace.attn("encoder_self"), attnviz.from_tensors(out.attentions, SRC, item=1).attn("encoder_self")
    )


def test_a_decoder_is_known_by_its_rows(gpt2: Any) -> None:
    out = gpt2(torch.tensor([[3, 5, 7, 11]]), output_attentions=True)
    trace = attnviz.from_tensors(out, ["a", "b", "c", "d"])
    assert trace.kinds == ("decoder_self",)
    expect_close(trace, "decoder_self", out.attentions)


def test_an_encoder_decoder_has_its_three_kinds_or_the_one_that_is_named(bart: Any) -> None:
    src, tgt = torch.tensor([[3, 5, 7, 11, 13]]), torch.tensor([[2, 4, 6]])
    out = bart(src, decoder_input_ids=tgt, output_attentions=True)
    trace = attnviz.from_tensors(out, {"src": SRC, "tgt": TGT})
    assert trace.kinds == ("encoder_self", "decoder_self", "cross")
    expect_close(trace, "encoder_self", out.encoder_attentions)
    expect_close(trace, "decoder_self", out.decoder_attentions)
    expect_close(trace, "cross", out.cross_attentions)
    assert attnviz.from_tensors(out, TGT, key_tokens=SRC, kind="cross").kinds == ("cross",)
    with pytest.raises(
        ValueError,
        match=r"contains several kinds of attention \(encoder_self, decoder_self, cross\)\. Please pass kind=",
    ):
        attnviz.from_tensors(out, SRC)


GENERATE: list[dict[str, Any]] = [
    {},
    {"use_cache": False},
    {"cache_implementation": "static"},
    {"num_beams": 3},
    {"num_beams": 3, "use_cache": False},
]


def generate(model: Any, ids: torch.Tensor, options: dict[str, Any]) -> Any:
    fixed = {
        "max_new_tokens": 5,
        "do_sample": False,
        "suppress_tokens": [0],
        "output_attentions": True,
        "return_dict_in_generate": True,
    }
    return model.generate(ids, attention_mask=torch.ones_like(ids), **fixed, **options)


@each_case("options", GENERATE, ids=str)
def test_steps_of_a_decoder_equal_one_pass_over_what_it_wrote(gpt2: Any, options: dict[str, Any]) -> None:
    prompts = torch.tensor([[3, 5, 7], [11, 13, 17]])
    out = generate(gpt2, prompts, options)
    for item in range(2):
        tokens = out.sequences[item]
        tokens = tokens[: len(tokens) - int((tokens == 0).sum())]  # of a beam that ended before the other text's
        trace = attnviz.from_tensors(out, words(tokens), item=item)
        wanted = gpt2(tokens[None], output_attentions=True).attentions
        expect_close(trace, "decoder_self", wanted)
        assert torch.equal(trace.mask("decoder_self"), torch.ones(len(tokens) - 1, len(tokens) - 1).tril().bool())
        assert [row.text for row in trace.output_tokens("decoder_self") or ()] == words(tokens)[1:]


@each_case("options", GENERATE, ids=str)
def test_steps_of_an_encoder_decoder_equal_one_pass(bart: Any, options: dict[str, Any]) -> None:
    src = torch.tensor([[3, 5, 7, 11, 13], [17, 19, 23, 29, 31]])
    out = generate(bart, src, options)
    for item in range(2):
        tokens = out.sequences[item]
        tokens = tokens[: len(tokens) - int((tokens == 0).sum())]
        trace = attnviz.from_tensors(out, {"src": SRC, "tgt": words(tokens)}, item=item)
        wanted = bart(src[item : item + 1], decoder_input_ids=tokens[None], output_attentions=True)
        expect_close(trace, "encoder_self", wanted.encoder_attentions)
        expect_close(trace, "decoder_self", wanted.decoder_attentions)
        expect_close(trace, "cross", wanted.cross_attentions)


def layers(*shape: int) -> list[torch.Tensor]:
    return [torch.randn(*shape, generator=torch.Generator().manual_seed(at)).softmax(dim=-1) for at in range(11)]


def test_a_cache_by_name_is_taken_in_the_order_of_its_layers() -> None:
    maps = layers(1, 3, 5, 5)
    patterns = {f"blocks.{at}.attn.hook_pattern": maps[at] for at in (10, 2, 0)}
    others = {"blocks.0.attn.hook_attn_scores": maps[1], "hook_embed": torch.zeros(1, 5, 7)}

    class ActivationCache:  # TransformerLens' own is no mapping either
        cache_dict = patterns | others

    wanted = torch.cat([maps[0], maps[2], maps[10]])
    for cache in (ActivationCache(), {f"blocks.{at}.attn.softmax": maps[at] for at in (10, 2, 0)}):
        assert torch.equal(attnviz.from_tensors(cache, SRC).attn("encoder_self"), wanted)


def test_a_cache_of_an_encoder_decoder_has_its_kinds_by_name() -> None:
    own, cross = layers(1, 3, 3, 3), layers(1, 3, 3, 5)
    cache = {"decoder.0.attn.hook_pattern": own[0], "decoder.0.cross_attn.hook_pattern": cross[0]}
    trace = attnviz.from_tensors(cache, {"src": SRC, "tgt": TGT})
    assert trace.kinds == ("decoder_self", "cross")
    assert torch.equal(trace.attn("cross", layer=0), cross[0][0])


def test_what_multi_head_attention_returns_is_taken_by_item() -> None:
    module = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    x = torch.randn(2, 5, 12)
    with pytest.raises(ValueError, match="pass the second of the two values"):
        attnviz.from_tensors(module(x, x, x, average_attn_weights=False), SRC, item=0)
    _, weights = module(x, x, x, average_attn_weights=False)
    assert torch.equal(attnviz.from_tensors(weights, SRC, item=1).attn("encoder_self")[0], weights[1].detach())
    _, averaged = module(x, x, x)
    assert attnviz.from_tensors(averaged, SRC, item=1).attn("encoder_self").shape == (1, 1, 5, 5)


def test_ids_are_read_by_their_tokenizer() -> None:
    own = Tokenizer(models.WordLevel({"[UNK]": 0, "[CLS]": 1, "the": 2, "cat": 3, "##s": 4}, unk_token="[UNK]"))
    own.add_special_tokens(["[CLS]"])
    maps, ids = layers(3, 4, 4)[0], torch.tensor([[1, 2, 3, 4]])
    for tokenizer in (own, transformers.PreTrainedTokenizerFast(tokenizer_object=own, cls_token="[CLS]")):
        tokens = attnviz.from_tensors(maps, ids, tokenizer=tokenizer).query_tokens("encoder_self")
        assert [token.piece for token in tokens] == ["[CLS]", "the", "cat", "##s"]
        assert [token.id for token in tokens] == [1, 2, 3, 4]
        assert [token.is_special for token in tokens] == [True, False, False, False]
        assert [token.starts_word for token in tokens] == [True, True, True, False]
        assert (
            attnviz.from_tensors(maps, {"input_ids": ids}, tokenizer=tokenizer).query_tokens("encoder_self") == tokens
        )


@pytest.mark.parametrize("make", [tokenizers_made.word_pieces, tokenizers_made.byte_prompts, tokenizers_made.pieces])
def test_the_text_of_ids_is_what_their_tokenizer_decodes(make: Any) -> None:
    tokenizer = make()
    ids = tokenizer("The quick cat sat on the mat")["input_ids"]
    trace = attnviz.from_tensors(layers(3, len(ids), len(ids))[0], ids, tokenizer=tokenizer)
    text = tokenizer.decode(ids, skip_special_tokens=True)
    assert (trace.src_text or trace.tgt_text) == text
    assert repr(text) in repr(trace)
    plain = (token for token in trace.query_tokens(trace.kinds[0]) if not token.is_special)
    assert all(text[token.start : token.end] == token.text for token in plain)


def test_a_token_that_is_special_by_its_flag_alone_is_special() -> None:
    own = Tokenizer(models.WordLevel({"[UNK]": 0, "cat": 1}, unk_token="[UNK]"))
    own.add_special_tokens(["<|turn|>"])
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=own)
    tokens = attnviz.from_tensors(layers(3, 2, 2)[0], [2, 1], tokenizer=tokenizer).query_tokens("encoder_self")
    assert [token.is_special for token in tokens] == [True, False]


def output_without_weights() -> Any:
    return transformers.modeling_outputs.BaseModelOutput(last_hidden_state=torch.zeros(1, 5, 7))


def several_rows_a_step() -> Any:
    steps = tuple((layers(1, 3, rows, 3 + at)[0],) for at, rows in enumerate((3, 2)))
    return {"attentions": steps}


REFUSED: list[tuple[Callable[[], Any], dict[str, Any], str]] = [
    (output_without_weights, {}, "no attention weights. Please call the model with output_attentions=True"),
    (lambda: {"attentions": (None, None)}, {}, "attentions contain no weights"),
    (several_rows_a_step, {}, "assisted decoding"),
    (lambda: layers(2, 3, 5, 5)[:2], {}, "contains 2 texts. Please choose one of them with item=0 to 1"),
    (lambda: layers(2, 3, 5, 5)[:2], {"item": 2}, "no item 2"),
    (lambda: torch.stack(layers(2, 3, 5, 5)[:2]), {}, "five axes"),
    (lambda: torch.rand(2, 3, 5, 5, 1, 1), {}, "shape"),
    (lambda: layers(3, 5, 5)[0], {"tokens": [1, 2, 3, 4, 5]}, "tokenizer="),
    (lambda: layers(3, 5, 5)[0], {"tokens": [1, 2, 3, 4, 5], "tokenizer": str}, "neither from transformers nor"),
    (lambda: {"attentions": layers(1, 3, 5, 5)[:2]}, {"tokens": SRC[:4]}, "but the tokens ask for 4 × 4"),
]


@each_case(("given", "options", "said"), REFUSED, ids=[said for *_, said in REFUSED])
def test_what_cannot_be_told_apart_is_asked_in_one_sentence(given: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        attnviz.from_tensors(given(), **{"tokens": SRC} | options)
    assert "\n" not in str(refused.value)
