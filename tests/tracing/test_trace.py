"""A trace says what ran: maps against the definition, labels, limits, its file, and eight threads at once."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F

from attnviz.models.tiny import tiny_translator
from attnviz.models.writing import padded
from attnviz.text.tokens import Token
from attnviz.tracing.recorder import Recorder
from attnviz.tracing.thumbnails import thumbnail
from attnviz.tracing.trace import CUT, Sentence, Trace
from attnviz.transformer.layers import Run
from attnviz.transformer.probe import Site

LAYERS, HEADS, D_K = 3, 5, 14
SRC, TGT = "A big red dog jumped over a small pond.", "un chien rouge a sauté"


@pytest.fixture(scope="module")
def model():
    return tiny_translator(seed=3, n_heads=HEADS, n_layers=LAYERS, d_k=D_K)


@pytest.fixture(scope="module")
def trace(model):
    return model.trace(SRC, to="fr", tgt_text=TGT)


def test_maps_have_the_shape_of_their_tokens(trace):
    for kind in trace.kinds:
        q_len, k_len = len(trace.query_tokens(kind)), len(trace.key_tokens(kind))
        assert trace.attn(kind).shape == (LAYERS, HEADS, q_len, k_len)
        assert trace.attn(kind, layer=1).shape == (HEADS, q_len, k_len)
        assert trace.attn(kind, layer=1, head=2).shape == trace.mask(kind).shape == (q_len, k_len)
        assert trace.attn(kind).dtype is torch.float32
    assert trace.attn("cross").shape[2] != trace.attn("cross").shape[3]


def test_one_head_equals_its_part_of_all(trace):
    everything = trace.attn("cross")
    for layer in range(LAYERS):
        for head in range(HEADS):
            torch.testing.assert_close(trace.attn("cross", layer=layer, head=head), everything[layer, head])


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_attn_and_scores_follow_from_input_and_memory_by_definition(model, trace, kind):
    stack = model.model.encoder if kind == "encoder_self" else model.model.decoder
    for layer in range(LAYERS):
        attention = stack.layers[layer].cross_attention if kind == "cross" else stack.layers[layer].self_attention
        query, key = attention.W_q(trace.input_(kind, layer)), attention.W_k(trace.site_memory(kind, layer))
        for head in range(HEADS):
            columns = slice(head * D_K, (head + 1) * D_K)
            scores = query[:, columns] @ key[:, columns].T / math.sqrt(D_K)
            torch.testing.assert_close(trace.scores(kind, layer=layer, head=head), scores, rtol=1e-5, atol=1e-5)
            weights = scores.masked_fill(~trace.mask(kind, layer=layer, head=head), -math.inf).softmax(dim=-1)
            torch.testing.assert_close(trace.attn(kind, layer=layer, head=head), weights, rtol=1e-5, atol=1e-6)


def test_context_is_what_the_fused_kernel_gave_and_what_the_weights_give(trace):
    for kind in trace.kinds:
        for layer in range(LAYERS):
            call = trace.call(kind, layer)
            fused = F.scaled_dot_product_attention(call.query, call.key, call.value, attn_mask=call.mask)
            torch.testing.assert_close(trace.context(kind, layer), fused[0])
            by_weights = trace.attn(kind, layer=layer) @ call.value[0]
            torch.testing.assert_close(trace.context(kind, layer), by_weights, rtol=1e-5, atol=1e-6)


def test_rows_sum_to_one_and_the_decoder_never_looks_ahead(trace):
    for kind in trace.kinds:
        torch.testing.assert_close(trace.attn(kind).sum(-1), torch.ones(trace.attn(kind).shape[:-1]))
    future = torch.ones(trace.mask("decoder_self").shape, dtype=torch.bool).triu(1)
    assert (trace.attn("decoder_self")[..., future] == 0).all()
    assert torch.equal(trace.mask("decoder_self"), ~future)


def test_recording_changes_nothing(model, trace):
    src = torch.tensor([[token.id for token in trace.tokens("src")]])
    tgt_in = torch.tensor([[token.id for token in trace.query_tokens("cross")]])
    assert torch.equal(model.model(src, tgt_in), trace.logits)


def test_rows_are_labelled_with_what_goes_in_and_what_comes_out(trace):
    goes_in, comes_out = trace.query_tokens("cross"), trace.output_tokens("cross")
    assert [token.text for token in goes_in] == ["<bos:fr>", *(t.text for t in comes_out[:-1])]
    assert comes_out[-1].text == "<eos>"
    assert goes_in == trace.key_tokens("decoder_self")
    assert trace.output_tokens("encoder_self") is None


def test_what_the_model_writes_is_the_likeliest_next_token_of_each_row(model):
    trace = model.trace("I love you", to="fr", max_tokens=6)
    logits = trace.logits[0].index_fill(1, torch.tensor(model.codec.never_generated), -math.inf)
    written = [token.id for token in trace.output_tokens("cross") if token.text != CUT]
    assert logits.argmax(-1).tolist()[: len(written)] == written


def test_a_cut_decoding_says_so_in_its_last_row(model):
    trace = model.trace("I love you", to="fr", max_tokens=4)
    assert trace.sentences[0].cut
    assert trace.output_tokens("cross")[-1].text == CUT
    assert len(trace.query_tokens("cross")) == 5 == trace.attn("cross").shape[2]
    assert "cut after 4 tokens" in trace.info.notes[0]


@pytest.mark.parametrize("shape", [(24, 40), (24, 41), (23, 40), (23, 41), (8, 16), (5, 8)])
def test_thumbnails_pool_over_the_windows_of_adaptive_max_pooling(shape):
    attn = torch.rand(3, *shape)
    size = tuple(min(8, length) for length in shape)
    pooled = F.adaptive_max_pool2d(attn, size)
    assert torch.equal(thumbnail(attn, 8), pooled.mul(255).round().to(torch.uint8))


def test_thumbnails_keep_peaks_and_shrink_to_their_side(trace):
    attn, small = trace.attn("encoder_self"), trace.thumbnails("encoder_self", side=4)
    assert small.shape == (LAYERS, HEADS, 4, 4)
    assert small.dtype is torch.uint8
    expected = F.adaptive_max_pool2d(attn, (4, 4)).mul(255).round().to(torch.uint8)
    assert torch.equal(small, expected)
    assert torch.equal(trace.thumbnails("cross"), trace.attn("cross").mul(255).round().to(torch.uint8))


def test_memory_grows_with_the_length_and_not_with_its_square(model):
    short, long = (model.trace("dog " * n, to="fr", tgt_text="un " * n).nbytes() for n in (50, 200))
    assert long < 5.5 * short


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda t: t._kind("self"), "kind must be one of encoder_self, decoder_self, cross, not 'self'"),
        (lambda t: t.attn("cross", layer=3), "layers 0 to 2"),
        (lambda t: t.attn("cross", layer=0, head=5), "heads 0 to 4"),
        (lambda t: t.attn("cross", item=1), "holds 1"),
        (lambda t: t.layer_output("encoder", 9), "no output of encoder layer 9"),
    ],
)
def test_what_is_not_there_is_refused_in_a_sentence(trace, call, says):
    with pytest.raises(ValueError, match=says):
        call(trace)


def test_a_file_brings_back_the_same_trace(trace, tmp_path):
    trace.save(tmp_path / "love.npz")
    again = Trace.load(tmp_path / "love.npz")
    assert (again.sentences, again.info, again.kinds) == (trace.sentences, trace.info, trace.kinds)
    for kind in trace.kinds:
        torch.testing.assert_close(again.attn(kind), trace.attn(kind), rtol=0, atol=1e-6)  # other strides, other kernel
        torch.testing.assert_close(again.scores(kind), trace.scores(kind), rtol=1e-6, atol=1e-6)
        assert torch.equal(again.mask(kind), trace.mask(kind))
    assert torch.equal(again.logits, trace.logits)
    assert torch.equal(again.layer_output("decoder", LAYERS - 1), trace.layer_output("decoder", LAYERS - 1))


def test_a_file_keeps_strange_tokens(model, tmp_path):
    strange = model.trace("a\x00 \u202e \ud800 <b> 🐕\n", to="zh", tgt_text="\u200b我")
    strange.save(tmp_path / "t.npz", maps=False)
    assert Trace.load(tmp_path / "t.npz").sentences == strange.sentences


def test_any_other_file_is_refused(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"not a trace")
    with pytest.raises(ValueError, match=r"x\.npz is not a trace saved by attnviz"):
        Trace.load(tmp_path / "x.npz")


def test_a_batch_keeps_items_apart(model):
    texts = ("I love you", "A big red dog jumped")
    encoded = [model.codec.encode_source(text) for text in texts]
    src = padded([e.ids for e in encoded], model.codec.pad_id)
    recorder = Recorder()
    memory = model.model.encode(src, model.model.src_mask(src), Run(recorder))
    tokens = [(*e.tokens, *(Token("<pad>", 0, 0, 0, True),) * (src.shape[1] - len(e.ids))) for e in encoded]
    batch = Trace.of(recorder, [Sentence(src=row) for row in tokens], memory=memory)
    for item, text in enumerate(texts):
        alone, n = model.trace(text, to="fr", tgt_text="un"), len(encoded[item].ids)
        torch.testing.assert_close(
            batch.attn("encoder_self", item=item)[..., :n, :n], alone.attn("encoder_self"), rtol=1e-5, atol=1e-6
        )
        assert (batch.attn("encoder_self", item=item)[..., n:] == 0).all()
        assert not batch.mask("encoder_self", item=item)[:, n:].any()


def test_eight_threads_on_one_model_get_what_each_gets_alone(model):
    texts = [" ".join(["dog", "love", "red", "pond"][i % 4] for i in range(n, 2 * n + 3)) for n in range(8)]
    alone = [model.trace(text, to="zh", tgt_text="我爱你" * (1 + n % 3)) for n, text in enumerate(texts)]

    def run(n: int) -> list[Trace]:
        return [model.trace(texts[n], to="zh", tgt_text="我爱你" * (1 + n % 3)) for _ in range(20)]

    with ThreadPoolExecutor(8) as pool:
        for expected, traces in zip(alone, pool.map(run, range(8)), strict=True):
            for trace in traces:
                assert trace.sentences == expected.sentences
                for kind in trace.kinds:
                    assert torch.equal(trace.attn(kind), expected.attn(kind))


def test_the_module_keeps_nothing_of_a_run(model, trace):
    assert not any(hasattr(module, "attn") for module in model.model.modules())
    assert not model.model.training
    assert Site("cross", 0) in trace.calls
