"""Attention to spans adds up, and hiding a span is cutting its keys in transformers' own eager attention."""

from dataclasses import replace

import pytest
import torch
import transformers

from attnviz.analysis.output_maps import OutputMap, output_maps
from attnviz.spans.numbers.hidden import HiddenKeys, answer_logprobs, hide_spans
from attnviz.spans.numbers.shares import FIRST, REST, span_norms, span_shares
from attnviz.text.tokens import Span, Token
from attnviz.tracing.record import Sentence
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import AttentionCall, Site
from tests.maps.test_lazy import cut_into_blocks

ASKED = [{"role": "system", "content": "The cat sat."}, {"role": "user", "content": "The dog looked at the cat"}]


@pytest.fixture
def answered(chat):
    """Answer a conversation with a checkpoint: the model, and one pass over prompt and answer."""

    def run(name: str):
        model = chat(name)
        return model, model.trace(messages=ASKED, new_tokens=5)

    return run


@pytest.mark.parametrize("name", ["llama", "qwen3", "gpt2"])
def test_shares_are_sums_of_weights_and_add_up_to_one(name, answered, monkeypatch):
    _, trace = answered(name)
    cut_into_blocks(monkeypatch, rows=3)
    shares, weights = span_shares(trace), trace.attn("decoder_self")
    names = [FIRST, *(span.name for span in trace.sentences[0].spans), REST]
    assert list(shares.names) == names
    torch.testing.assert_close(shares.shares.sum(dim=-1), torch.ones(weights.shape[:3]))
    user = trace.sentences[0].spans[1]
    torch.testing.assert_close(shares.shares[..., 2], weights[..., user.start : user.end].sum(dim=-1))
    torch.testing.assert_close(shares.per_token()[..., 2] * len(user), shares.shares[..., 2])
    assert sum(shares.lengths) == weights.shape[-1]


def test_shares_of_rows_that_see_a_window_are_sums_of_their_weights(monkeypatch):
    cut_into_blocks(monkeypatch, rows=3)
    query, window = torch.randn(1, 2, 11, 4), torch.ones(1, 1, 11, 11, dtype=torch.bool).tril().triu(-2)
    sentence = Sentence(tgt=tuple(Token("a", 1, at, at + 1) for at in range(11)), cut=True)
    trace = Trace({Site("decoder_self", 0): AttentionCall(query, query, query, 0.5, window)}, {}, {}, (sentence,))
    shares = span_shares(trace, [Span("one", 2, 4), Span("two", 5, 9)]).shares
    parts = [part.sum(dim=-1) for part in trace.attn("decoder_self").split([1, 1, 2, 1, 4, 2], dim=-1)]
    wanted = torch.stack([parts[0], parts[2], parts[4], parts[1] + parts[3] + parts[5]], dim=-1)
    torch.testing.assert_close(shares, wanted, atol=1e-6, rtol=0)


def test_a_span_that_holds_the_first_token_counts_only_the_others(answered):
    _, trace = answered("llama")
    shares = span_shares(trace, [Span("all", 0, 9)])
    torch.testing.assert_close(shares.shares[..., 1], trace.attn("decoder_self")[..., 1:9].sum(dim=-1))
    assert shares.lengths[:2] == (1, 8)


def test_the_table_is_the_mean_over_the_rows_of_a_span(answered):
    _, trace = answered("llama")
    user, shares = trace.sentences[0].spans[1], span_shares(trace)
    line = shares.table(user).query("layer == 2 and head == 4 and span == 'system'").iloc[0]
    assert line["share"] == pytest.approx(float(shares.shares[2, 4, user.start : user.end, 1].mean()))
    with pytest.raises(ValueError, match="The span “none” has no row"):
        shares.table(Span("none", 390, 391))


def test_norms_are_what_heads_write_from_a_span(answered):
    model, trace = answered("llama")
    own = [found for found in output_maps(model, trace).values() if isinstance(found, OutputMap)]
    shares, user = span_norms(trace, own), trace.sentences[0].spans[1]
    weights, value = trace.attn("decoder_self", layer=1, head=3), trace.call("decoder_self", 1).value[0, 3]
    written = (weights.unsqueeze(-1) * (value @ own[1].weight[3])).norm(dim=-1)
    expected = written[:, user.start : user.end].sum(dim=-1) / written.sum(dim=-1)
    torch.testing.assert_close(shares.shares[1, 3, :, 2], expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(shares.shares.sum(dim=-1), torch.ones(shares.shares.shape[:3]))


@pytest.mark.parametrize("hidden_from", ["answer", "all later rows"])
@pytest.mark.parametrize("name", ["llama", "mistral", "gemma", "gpt2"])
def test_hiding_a_span_is_cutting_its_keys_in_transformers(name, hidden_from, answered, tmp_path):
    model, trace = answered(name)
    sentence = trace.sentences[0]
    answer = sentence.spans[-1]
    near = Span("near", answer.start - 6, answer.start - 2)  # within Mistral's window
    table = hide_spans(model, trace, answer, [near], hidden_from=hidden_from).set_index("span")
    model.torch_module.save_pretrained(tmp_path)
    peer = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, attn_implementation="eager")
    ids = torch.tensor([[token.id for token in sentence.tgt_in]])
    length = ids.shape[1]
    seen = torch.ones(length, length, dtype=torch.bool).tril()
    window = getattr(peer.config, "sliding_window", None)
    if window and name == "mistral":
        seen &= ~torch.ones(length, length, dtype=torch.bool).tril(-window)
    first = answer.start - 1 if hidden_from == "answer" else near.end
    cut = seen.clone()
    cut[first:, near.start : near.end] = False
    for mask, column in ((seen, "logprob"), (cut, "without")):
        added = torch.zeros(length, length).masked_fill(~mask, torch.finfo(torch.float32).min)[None, None]
        with torch.inference_mode():
            logits = peer(input_ids=ids, attention_mask=added).logits[0]
        chosen = [token.id for token in sentence.tgt[answer.start :]]
        rows = logits[answer.start - 1 :].log_softmax(dim=-1)
        expected = sum(float(rows[row, id_]) for row, id_ in enumerate(chosen))
        assert table.loc["near", column] == pytest.approx(expected, abs=2e-3)
    assert table.loc["near", "difference"] == pytest.approx(table.loc["near", "without"] - table.loc["near", "logprob"])
    assert table.loc["near", "difference"] != 0


def test_no_row_before_the_answer_changes_where_a_span_is_hidden_from_the_answer(answered):
    model, trace = answered("llama")
    answer = trace.sentences[0].spans[-1]
    without = model.rerun(trace, HiddenKeys(3, 8, answer.start - 1, answer.end))
    changed = (without.attn("decoder_self") - trace.attn("decoder_self")).abs().amax(dim=(0, 1, 3)) > 1e-6
    assert not changed[: answer.start - 1].any()
    assert changed[answer.start - 1 :].all()


def test_a_span_that_ends_at_the_answer_is_hidden_from_its_own_last_row_but_for_that_rows_key(answered):
    model, trace = answered("llama")
    row = trace.sentences[0].spans[-1].start - 1
    weights = model.rerun(trace, HiddenKeys(row - 3, row + 1, row, row + 1)).attn("decoder_self")[:, :, row]
    assert float(weights[..., row - 3 : row].abs().max()) == 0
    assert bool((weights[..., row] > 0).all())
    beside = hide_spans(model, trace, Span("answer", row + 1, row + 2), [Span("beside", row - 3, row + 1)])
    assert abs(float(beside["difference"].iloc[0])) > 0


@pytest.mark.parametrize(
    ("spans", "sentence"),
    [
        ([Span("none", 4, 4)], "The span “none” holds no token: it goes from 4 to 4."),
        ([Span("late", 4, 999)], "The span “late” ends at token 999; the text has"),
        ([Span("a", 1, 5), Span("b", 4, 9)], "The spans “a” and “b” share tokens"),
        ([Span("a", 1, 3), Span("a", 4, 9)], "Two spans are named “a”"),
    ],
)
def test_spans_that_cannot_be_are_one_sentence(spans, sentence, answered):
    _, trace = answered("llama")
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the sentence is compared below
        span_shares(trace, spans)
    assert str(refused.value).startswith(sentence)


def test_what_a_trace_lacks_for_spans_is_said(answered, chat):
    model, trace = answered("llama")
    with pytest.raises(ValueError, match="This trace has no spans"):
        span_shares(model.trace("The cat sat."))
    with pytest.raises(ValueError, match="This trace has no logits"):
        answer_logprobs(replace(trace, logits=None), trace.sentences[0].spans[-1])
    with pytest.raises(ValueError, match="The answer begins with the first token"):
        answer_logprobs(trace, Span("all", 0, 3))
