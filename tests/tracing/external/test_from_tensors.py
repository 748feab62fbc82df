"""Weights from a user: every label and number as given, flaws named, misfits refused in one sentence."""

import numpy as np
import pytest
import torch

import attnviz
from attnviz.analysis.metric_table import head_metrics
from attnviz.heads.payload import heads_payload
from attnviz.heads.sentences import sentence_strip
from attnviz.maps.options import MapOptions
from attnviz.maps.selection import select
from tests.each_case import each_case

WORDS = ["[CLS]", "the", "c##at", "[SEP]", "sat"]
TARGET = ["<s>", "le", "chat"]


def weights(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3)).softmax(dim=-1)


def test_every_weight_is_the_one_that_was_given() -> None:
    attn = weights(2, 3, 5, 5)
    trace = attnviz.from_tensors(attn, WORDS)
    assert trace.kinds == ("encoder_self",)
    assert (trace.n_layers, trace.n_heads) == (2, 3)
    assert torch.equal(trace.attn("encoder_self"), attn)
    assert torch.equal(trace.attn("encoder_self", layer=1, head=2), attn[1, 2])
    assert torch.equal(trace.attn("encoder_self", head=2), attn[:, 2])
    assert trace.mask("encoder_self").all()
    assert trace.info.notes == ()


def test_rows_that_only_look_back_are_a_decoders() -> None:
    causal = weights(2, 3, 5, 5).tril()
    assert attnviz.from_tensors(causal, WORDS).kinds == ("decoder_self",)
    assert attnviz.from_tensors(causal, WORDS, kind="encoder_self").kinds == ("encoder_self",)
    assert attnviz.from_tensors(torch.eye(5), WORDS).kinds == ("encoder_self",)


@pytest.mark.parametrize("given", [weights(5, 5), weights(5, 5).numpy(), weights(5, 5).tolist()])
def test_one_map_is_one_layer_with_one_head(given) -> None:
    assert attnviz.from_tensors(given, WORDS).attn("encoder_self").shape == (1, 1, 5, 5)


def test_what_output_attentions_gives_is_taken_as_it_is() -> None:
    layers = tuple(weights(1, 3, 5, 5) for _ in range(2))
    assert torch.equal(attnviz.from_tensors(layers, WORDS).attn("encoder_self"), torch.cat(layers))


def test_labels_are_the_tokens_and_specials_are_known() -> None:
    made = select(attnviz.from_tensors(weights(2, 3, 5, 5), WORDS), "encoder_self")
    assert [row.text for row in made.rows] == WORDS
    assert [col.text for col in made.cols] == WORDS
    hidden = select(attnviz.from_tensors(weights(2, 3, 5, 5), WORDS), "encoder_self", MapOptions("hide"))
    assert [row.text for row in hidden.rows] == ["the", "c##at", "sat"]


def test_cross_attention_has_its_two_sentences() -> None:
    made = select(attnviz.from_tensors(weights(2, 3, 3, 5), TARGET, key_tokens=WORDS), "cross")
    assert [row.text for row in made.rows] == TARGET
    assert [col.text for col in made.cols] == WORDS


def test_a_target_with_one_token_more_labels_rows_input_to_output() -> None:
    attn = {"decoder_self": weights(2, 3, 2, 2), "cross": weights(2, 3, 2, 5)}
    trace = attnviz.from_tensors(attn, {"src": WORDS, "tgt": TARGET})
    assert [row.text for row in select(trace, "cross").rows] == ["<s> → le", "le → chat"]
    assert [col.text for col in select(trace, "decoder_self").cols] == ["<s>", "le"]


def test_rows_that_do_not_sum_to_one_are_named_and_kept() -> None:
    attn = weights(2, 3, 5, 5)
    attn[1, 2, 4] *= 0.5
    trace = attnviz.from_tensors(attn, WORDS)
    (note,) = trace.info.notes
    assert "1 of 30 rows" in note
    assert "L1 H2, row 4, “sat”" in note
    assert "0.5" in note
    assert torch.equal(trace.attn("encoder_self"), attn)


def test_a_masked_row_without_keys_is_no_flaw_and_weights_outside_are() -> None:
    mask = torch.ones(5, 5, dtype=torch.bool)
    mask[2] = False
    attn = weights(1, 1, 5, 5).masked_fill(~mask, 0.0)
    assert attnviz.from_tensors(attn, WORDS, mask=mask).info.notes == ()
    attn[0, 0, 0] = torch.tensor([1.5, -0.5, 0, 0, 0])
    assert "2 weights" in attnviz.from_tensors(attn, WORDS, mask=mask).info.notes[0]


def test_the_views_take_it() -> None:
    trace = attnviz.from_tensors(weights(2, 3, 5, 5), WORDS)
    assert np.allclose(
        attnviz.views.heatmap(trace, "encoder_self", layer=1, head=2).data[0].z, trace.attn("encoder_self")[1, 2]
    )
    maps = {"encoder_self": select(trace, "encoder_self")}
    assert heads_payload(maps, head_metrics(maps, trace), view={}, strip=sentence_strip(trace))
    assert trace.thumbnails("encoder_self").shape == (2, 3, 5, 5)
    assert trace.nbytes() == 2 * 3 * 5 * 5 * 4


NEEDS = {
    "scores": lambda trace: trace.scores("encoder_self"),
    "context": lambda trace: trace.context("encoder_self", 0),
    "input": lambda trace: trace.input_("encoder_self", 0),
    "call": lambda trace: trace.call("encoder_self", 0),
}


@each_case("ask", NEEDS.values(), ids=NEEDS)
def test_what_needs_queries_and_keys_says_so(ask) -> None:
    with pytest.raises(ValueError, match="built from bare weights: it has no queries"):
        ask(attnviz.from_tensors(weights(5, 5), WORDS))


@each_case(
    ("attn", "tokens", "options", "said"),
    [
        (weights(4, 4), WORDS, {}, "4 × 4 .* 5 × 5"),
        (weights(5, 3), WORDS, {}, "5 × 3"),
        (weights(2, 2, 2, 2, 5, 5), WORDS, {}, r"shape \(2, 2, 2, 2, 5, 5\)"),
        (torch.zeros(0, 5, 5), WORDS, {}, "shape"),
        (weights(5, 5).fill_(float("nan")), WORDS, {}, "not finite at layer 0, head 0, row 0, key 0"),
        (weights(5, 5).to(torch.complex64), WORDS, {}, "complex"),
        (torch.empty(5, 5, device="meta"), WORDS, {}, "not an array of numbers"),
        ([list(row.requires_grad_()) for row in weights(5, 5)], WORDS, {}, "not an array of numbers"),
        (weights(5, 5), None, {}, "list of strings"),
        (weights(5, 5), 5, {}, "list of strings"),
        (weights(5, 5), None, {"key_tokens": WORDS}, "list of strings"),
        (weights(5, 5), WORDS, {"mask": torch.empty(5, 5, dtype=torch.bool, device="meta")}, "not an array of bool"),
        ([["a"]], WORDS, {}, "not an array of numbers"),
        (weights(5, 5), WORDS, {"kind": "sideways"}, "sideways"),
        (weights(5, 5), "abcde", {}, "list of strings"),
        (weights(5, 5), WORDS, {"kind": "cross"}, "key_tokens"),
        (weights(3, 5), TARGET, {"key_tokens": WORDS, "kind": "decoder_self"}, "leave key_tokens out"),
        ({"cross": weights(3, 5)}, WORDS, {}, "dictionary"),
        ({}, {"src": WORDS}, {}, "No weights"),
        (weights(5, 5), WORDS, {"mask": [[True]]}, "mask"),
        ((weights(3, 5, 5), weights(2, 5, 5)), WORDS, {}, "have different shapes"),
        (
            {"decoder_self": weights(3, 3), "cross": weights(2, 5)},
            {"src": WORDS, "tgt": TARGET},
            {},
            "the same number of rows",
        ),
        (weights(1, 1), TARGET, {"kind": "decoder_self"}, "1 decoder rows and 3 target tokens"),
    ],
)
def test_misfits_are_refused_in_one_sentence(attn, tokens, options, said) -> None:
    with pytest.raises(ValueError, match=said) as refused:
        attnviz.from_tensors(attn, tokens, **options)
    assert "\n" not in str(refused.value)


def test_tokens_may_come_one_at_a_time() -> None:
    trace = attnviz.from_tensors(weights(5, 5), (word for word in WORDS))
    assert [token.text for token in trace.tokens("src")] == WORDS
    crossed = attnviz.from_tensors(weights(3, 5), iter(TARGET), key_tokens=iter(WORDS))
    assert [token.text for token in crossed.tokens("src")] == WORDS
    alike = attnviz.from_tensors(weights(5, 5), iter(WORDS), key_tokens=iter(WORDS), kind="encoder_self")
    assert [token.text for token in alike.tokens("src")] == WORDS


def test_weights_that_are_held_sparse_are_written_out() -> None:
    attn, mask = torch.eye(5), torch.eye(5, dtype=torch.bool)
    trace = attnviz.from_tensors(attn.to_sparse(), WORDS, mask=mask.to_sparse())
    assert torch.equal(trace.attn("encoder_self", layer=0, head=0), attn)
    assert torch.equal(trace.mask("encoder_self"), mask)


def test_equal_weights_of_another_mask_or_shape_have_another_name() -> None:
    attn = weights(1, 3, 5, 5)
    given = [(attn, None), (attn, torch.ones(5, 5, dtype=torch.bool).tril()), (attn.reshape(3, 1, 5, 5), None)]
    names = {attnviz.from_tensors(each, WORDS, mask=mask).model_id for each, mask in given}
    assert len(names) == 3
    assert attnviz.from_tensors(attn.clone(), WORDS).model_id in names
