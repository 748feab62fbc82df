"""Maps as shown: labels belong to their rows, special tokens can go, pieces become words."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis.shown import ColLabel, RowLabel, Shown, shown
from attnviz.models.tiny import tiny_translator
from attnviz.text.display import display
from attnviz.text.tokens import Token
from tests.analysis.by_hand import BOS, EOS, tokens, trace_of

POND = tokens("▁po", "nd", ".", EOS)
ENCODER = [
    [0.1, 0.2, 0.3, 0.4],
    [0.5, 0.1, 0.1, 0.3],
    [0.0, 0.25, 0.25, 0.5],
    [0.2, 0.2, 0.2, 0.4],
]


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=0).trace("machine learning is fun.", to="fr", tgt_text="un petit chien rouge")


def close(actual: torch.Tensor, expected: list) -> bool:
    return torch.allclose(actual, torch.tensor(expected), atol=1e-6)


def test_nothing_asked_nothing_changed(trace) -> None:
    for kind in trace.kinds:
        maps = shown(trace, kind)
        assert torch.equal(maps.attn, trace.attn(kind))
        assert torch.equal(maps.visible(1, 3), trace.mask(kind, layer=1, head=3))
        assert (maps.left_out, maps.renormalised) == ("", False)


@pytest.mark.parametrize("kind", ["decoder_self", "cross"])
def test_the_row_labelled_a_to_b_is_the_row_whose_query_is_a_and_whose_output_is_b(trace, kind) -> None:
    maps = shown(trace, kind)
    queries, outputs = trace.query_tokens(kind), trace.output_tokens(kind)
    assert len(maps.rows) == len(queries) == maps.attn.shape[-2]
    for at, row in enumerate(maps.rows):
        assert row == RowLabel(display(queries[at].text), display(outputs[at].text), (at,))
        assert row.text == f"{display(queries[at].text)} → {display(outputs[at].text)}"
    assert [row.output for row in maps.rows[:-1]] == [row.input for row in maps.rows[1:]]


def test_an_encoder_row_has_one_token(trace) -> None:
    maps = shown(trace, "encoder_self")
    assert [row.text for row in maps.rows] == [col.text for col in maps.cols]
    assert all(row.output is None for row in maps.rows)


def test_pieces_to_a_word_add_up_and_from_a_word_average() -> None:
    maps = shown(trace_of("encoder_self", ENCODER, src=POND), "encoder_self", words=True)
    assert maps.rows == (RowLabel("pond", None, (0, 1)), RowLabel(".", None, (2,)), RowLabel(EOS, None, (3,)))
    assert maps.cols == (ColLabel("pond", (0, 1)), ColLabel(".", (2,)), ColLabel(EOS, (3,)))
    assert close(maps.attn[0, 0], [[0.45, 0.2, 0.35], [0.25, 0.25, 0.5], [0.4, 0.2, 0.4]])


def test_decoder_rows_merge_by_the_word_that_they_put_out() -> None:
    tgt = tokens(BOS, "▁a", "▁sau", "té", EOS)  # rows: bos → a, a → sau, sau → té, té → eos
    attn = [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4], [0.1, 0.9]]
    maps = shown(trace_of("cross", attn, src=tokens("▁he", EOS), tgt=tgt), "cross", words=True)
    assert [row.text for row in maps.rows] == [f"{BOS} → a", "a → sauté", f"sauté → {EOS}"]
    assert [row.tokens for row in maps.rows] == [(0,), (1, 2), (3,)]
    assert close(maps.attn[0, 0], [[0.7, 0.3], [0.4, 0.6], [0.1, 0.9]])


def test_decoder_self_keys_merge_by_the_word_that_went_in() -> None:
    tgt = tokens(BOS, "▁sau", "té", EOS)
    attn = [[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.2, 0.3, 0.5]]
    causal = torch.ones(3, 3, dtype=torch.bool).tril()[None, None]
    maps = shown(trace_of("decoder_self", attn, tgt=tgt, mask=causal), "decoder_self", words=True)
    assert [row.text for row in maps.rows] == [f"{BOS} → sauté", f"sauté → {EOS}"]
    assert [col.tokens for col in maps.cols] == [(0,), (1, 2)]
    assert close(maps.attn[0, 0], [[0.7, 0.3], [0.2, 0.8]])
    assert maps.mask[0, 0].tolist() == [[True, True], [True, True]]  # any piece may see any piece


def test_a_masked_word_stays_masked() -> None:
    tgt = tokens(BOS, "▁a", "▁sau", "té", EOS)
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    attn = causal / causal.sum(-1, keepdim=True)
    maps = shown(trace_of("decoder_self", attn, tgt=tgt, mask=causal[None, None]), "decoder_self", words=True)
    assert maps.mask[0, 0].tolist() == [[True, False, False], [True, True, True], [True, True, True]]
    assert maps.attn[0, 0, 0].tolist() == [1, 0, 0]


def test_chinese_is_not_merged() -> None:
    trace = tiny_translator(seed=0).trace("i love you", to="zh", tgt_text="我爱机器学习")
    texts = [row.output for row in shown(trace, "cross", words=True).rows]
    assert [text for text in texts if text[0] >= "\u4e00"] == list("我爱机器学习")


def test_hidden_special_tokens_leave_the_other_weights_alone() -> None:
    maps = shown(trace_of("encoder_self", ENCODER, src=POND), "encoder_self", specials="hide")
    assert [row.text for row in maps.rows] == [col.text for col in maps.cols] == ["po", "nd", "."]
    assert close(maps.attn[0, 0], [[0.1, 0.2, 0.3], [0.5, 0.1, 0.1], [0.0, 0.25, 0.25]])
    assert maps.left_out == "special tokens hidden: rows sum to less than 1"
    assert not maps.renormalised


def test_renormalised_rows_keep_their_proportions() -> None:
    maps = shown(trace_of("encoder_self", ENCODER, src=POND), "encoder_self", specials="renormalise")
    assert close(maps.attn[0, 0], [[1 / 6, 2 / 6, 3 / 6], [5 / 7, 1 / 7, 1 / 7], [0.0, 0.5, 0.5]])
    assert maps.left_out == "special tokens hidden: rows made to sum to 1 again"
    assert maps.renormalised


def test_the_step_that_puts_out_the_first_word_is_never_hidden(trace) -> None:
    every, rest = shown(trace, "cross"), shown(trace, "cross", specials="hide")
    assert rest.rows == every.rows[:-1]
    assert every.rows[-1].output == EOS
    assert [col.text for col in rest.cols] == [col.text for col in every.cols[:-1]]
    assert torch.equal(rest.attn, every.attn[..., :-1, :-1])


@pytest.mark.parametrize("specials", ["hide", "renormalise"])
def test_a_row_that_saw_only_hidden_tokens_is_empty_and_says_so(trace, specials) -> None:
    maps = shown(trace, "decoder_self", specials=specials)
    assert maps.attn[..., 0, :].abs().max() == 0  # the first step sees only <bos>
    assert not maps.visible(0, 0)[0].any()
    assert maps.visible(0, 0)[1:].any(-1).all()
    assert maps.rows_with_keys_hidden.tolist() == [True, *[False] * (len(maps.rows) - 1)]


def test_a_row_without_any_key_is_told_from_one_whose_keys_are_hidden(trace) -> None:
    mask = torch.tensor([[False, False], [False, True]])[None, None]
    blind = trace_of("encoder_self", [[0.0, 0.0], [0.0, 1.0]], src=tokens("▁a", EOS), mask=mask)
    assert shown(blind, "encoder_self").rows_with_keys_hidden.tolist() == [False, False]
    assert shown(blind, "encoder_self", specials="hide").rows_with_keys_hidden.tolist() == [False]
    assert not shown(trace, "decoder_self").rows_with_keys_hidden.any()


def test_a_decoding_cut_at_the_limit_says_so() -> None:
    trace = trace_of("cross", [[1.0], [1.0]], src=tokens("▁he"), tgt=tokens(BOS, "▁a"), cut=True)
    assert [row.text for row in shown(trace, "cross").rows] == [f"{BOS} → a", "a → (cut)"]


def test_pieces_that_see_no_key_do_not_count_in_a_words_mean() -> None:
    mask = torch.tensor([[True, True], [False, False]])[None, None]
    trace = trace_of("encoder_self", [[0.3, 0.7], [0.5, 0.5]], src=tokens("▁po", "nd"), mask=mask)
    assert close(shown(trace, "encoder_self", words=True).attn[0, 0], [[1.0]])


def test_masks_that_differ_from_head_to_head_are_kept_apart() -> None:
    mask = torch.ones(1, 3, 2, 2, dtype=torch.bool)
    mask[0, 1, 0, 1] = False
    attn = torch.full((1, 3, 2, 2), 0.5)
    maps = shown(trace_of("encoder_self", attn, src=tokens("▁a", "▁b"), mask=mask), "encoder_self")
    assert torch.equal(maps.mask, mask)
    assert maps.visible(0, 1).tolist() == [[True, False], [True, True]]
    assert maps.visible(0, "mean").all()


def test_repeated_tokens_keep_their_places() -> None:
    src = tokens("▁ha", "▁ha", "▁ha")
    maps = shown(trace_of("encoder_self", torch.eye(3), src=src), "encoder_self")
    assert [(col.text, col.tokens) for col in maps.cols] == [("ha", (0,)), ("ha", (1,)), ("ha", (2,))]
    assert torch.equal(maps.weights(0, 0), torch.eye(3))


def test_invisible_characters_are_named() -> None:
    src = (Token("a\u200bb", 1, 0, 3), Token("<b>", 2, 3, 6))
    maps = shown(trace_of("encoder_self", torch.eye(2), src=src), "encoder_self")
    assert [col.text for col in maps.cols] == ["a U+200B b", "<b>"]  # escaping is left to whoever draws


def test_a_target_of_special_tokens_only_leaves_an_empty_map() -> None:
    trace = trace_of("decoder_self", [[1.0]], tgt=tokens(BOS, EOS))
    assert shown(trace, "decoder_self", specials="renormalise", words=True).attn.shape == (1, 1, 0, 0)


def test_mean_is_over_layers_heads_or_both(trace) -> None:
    maps = shown(trace, "cross")
    assert torch.allclose(maps.weights("mean", 3), maps.attn[:, 3].mean(0))
    assert torch.allclose(maps.weights(1, "mean"), maps.attn[1].mean(0))
    assert torch.allclose(maps.weights("mean", "mean"), maps.attn.mean((0, 1)))


@pytest.mark.parametrize("choice", [(2, 0), (0, 5), (-1, 0), ("all", 0), (True, 0), (0, "0")])
def test_a_layer_or_head_that_is_not_there_is_refused(trace, choice) -> None:
    with pytest.raises(ValueError, match="or 'mean', not"):
        shown(trace, "cross").weights(*choice)


def test_a_kind_that_is_not_there_is_refused() -> None:
    trace = trace_of("encoder_self", [[1.0]], src=tokens("▁a"))
    with pytest.raises(ValueError, match="it has encoder_self"):
        shown(trace, "cross")


@st.composite
def maps_and_tokens(draw: st.DrawFn) -> tuple[torch.Tensor, tuple[Token, ...]]:
    length = draw(st.integers(1, 7))
    flags = draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=length, max_size=length))
    made = tuple(Token("ab", at, 0, 2, is_special=s, starts_word=w) for at, (s, w) in enumerate(flags))
    attn = torch.rand(2, 3, length, length, generator=torch.Generator().manual_seed(draw(st.integers(0, 99)))) + 0.01
    return attn / attn.sum(-1, keepdim=True), made


@given(maps_and_tokens(), st.sampled_from(["show", "hide", "renormalise"]), st.booleans())
def test_rows_sum_to_one_or_to_less_where_something_is_hidden(drawn, specials, words) -> None:
    attn, src = drawn
    maps: Shown = shown(trace_of("encoder_self", attn, src=src), "encoder_self", specials=specials, words=words)
    sums = maps.attn.sum(-1)
    assert maps.attn.shape == (2, 3, len(maps.rows), len(maps.cols))
    if specials == "hide":
        assert (sums <= 1 + 1e-5).all()
    elif maps.cols:
        assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)
    kept = [at for at, token in enumerate(src) if specials == "show" or not token.is_special]
    assert [at for row in maps.rows for at in row.tokens] == [at for col in maps.cols for at in col.tokens] == kept


def test_a_quadrant_keeps_queries_of_one_part_and_keys_of_another() -> None:
    first, second = tokens("a", "b"), tuple(replace(token, part=1) for token in tokens("c", "d"))
    trace = trace_of("encoder_self", ENCODER, src=(*first, *second))
    maps = shown(trace, "encoder_self", parts=(0, 1))
    assert close(maps.attn[0, 0], [[0.3, 0.4], [0.1, 0.3]])
    assert [row.text for row in maps.rows] == ["a", "b"]
    assert [col.text for col in maps.cols] == ["c", "d"]
    assert maps.left_out == "the other part hidden: rows sum to less than 1"
    assert not maps.keyless.any()
