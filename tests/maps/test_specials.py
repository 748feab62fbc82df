"""Special tokens hidden, rows made to sum to 1 again or not, and what is left says so."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnviz.maps.maps import EagerMaps
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from attnviz.models.translator.tiny import tiny_translator
from attnviz.text.tokens import Token
from tests.analysis.heads.by_hand import BOS, ENCODER, EOS, POND, close, tokens, trace_of


@pytest.fixture(scope="module")
def trace():
    return tiny_translator(seed=0).trace("machine learning is fun.", to="fr", tgt_text="un petit chien rouge")


def test_hidden_special_tokens_leave_the_other_weights_alone() -> None:
    maps = select(trace_of("encoder_self", ENCODER, src=POND), "encoder_self", MapOptions("hide"))
    assert [row.text for row in maps.rows] == [col.text for col in maps.cols] == ["po", "nd", "."]
    assert close(maps.attn[0, 0], [[0.1, 0.2, 0.3], [0.5, 0.1, 0.1], [0.0, 0.25, 0.25]])
    assert maps.left_out == "special tokens hidden: rows sum to less than 1"


def test_renormalised_rows_keep_their_proportions() -> None:
    maps = select(trace_of("encoder_self", ENCODER, src=POND), "encoder_self", MapOptions("renormalise"))
    assert close(maps.attn[0, 0], [[1 / 6, 2 / 6, 3 / 6], [5 / 7, 1 / 7, 1 / 7], [0.0, 0.5, 0.5]])
    assert maps.left_out == "special tokens hidden: rows made to sum to 1 again"


def test_the_step_that_puts_out_the_first_word_is_never_hidden(trace) -> None:
    every, rest = select(trace, "cross"), select(trace, "cross", MapOptions("hide"))
    assert rest.rows == every.rows[:-1]
    assert every.rows[-1].output == EOS
    assert [col.text for col in rest.cols] == [col.text for col in every.cols[:-1]]
    assert torch.equal(rest.attn, every.attn[..., :-1, :-1])


@pytest.mark.parametrize("specials", ["hide", "renormalise"])
def test_a_row_that_saw_only_hidden_tokens_is_empty_and_says_so(trace, specials) -> None:
    maps = select(trace, "decoder_self", MapOptions(specials))
    assert maps.attn[..., 0, :].abs().max() == 0  # the first step sees only <bos>
    assert not maps.visible_cells(0, 0)[0].any()
    assert maps.visible_cells(0, 0)[1:].any(-1).all()
    assert maps.rows_with_keys_hidden.tolist() == [True, *[False] * (len(maps.rows) - 1)]


def test_a_row_without_any_key_is_told_from_one_whose_keys_are_hidden(trace) -> None:
    mask = torch.tensor([[False, False], [False, True]])[None, None]
    blind = trace_of("encoder_self", [[0.0, 0.0], [0.0, 1.0]], src=tokens("▁a", EOS), mask=mask)
    assert select(blind, "encoder_self").rows_with_keys_hidden.tolist() == [False, False]
    assert select(blind, "encoder_self", MapOptions("hide")).rows_with_keys_hidden.tolist() == [False]
    assert not select(trace, "decoder_self").rows_with_keys_hidden.any()


def test_a_target_of_special_tokens_only_leaves_an_empty_map() -> None:
    trace = trace_of("decoder_self", [[1.0]], tgt=tokens(BOS, EOS))
    assert select(trace, "decoder_self", MapOptions("renormalise", words=True)).attn.shape == (1, 1, 0, 0)


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
    maps: EagerMaps = select(trace_of("encoder_self", attn, src=src), "encoder_self", MapOptions(specials, words=words))
    sums = maps.attn.sum(-1)
    assert maps.attn.shape == (2, 3, len(maps.rows), len(maps.cols))
    if specials == "hide":
        assert (sums <= 1 + 1e-5).all()
    elif maps.cols:
        assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)
    kept = [at for at, token in enumerate(src) if specials == "show" or not token.is_special]
    assert [at for row in maps.rows for at in row.tokens] == [at for col in maps.cols for at in col.tokens] == kept


def test_a_quadrant_keeps_queries_of_one_part_and_keys_of_another() -> None:
    first, second = tokens("a", "b"), tuple(replace(token, segment=1) for token in tokens("c", "d"))
    trace = trace_of("encoder_self", ENCODER, src=(*first, *second))
    maps = select(trace, "encoder_self", MapOptions(quadrant=(0, 1)))
    assert close(maps.attn[0, 0], [[0.3, 0.4], [0.1, 0.3]])
    assert [row.text for row in maps.rows] == ["a", "b"]
    assert [col.text for col in maps.cols] == ["c", "d"]
    assert maps.left_out == "the other part hidden: rows sum to less than 1"
    assert not maps.keyless.any()
