"""Claims of the lessons on shapes and bugs are true of the shipped model, of toys, and of torch."""

import pytest
import torch

from attnviz.analysis.inputs import query_key_value, site_inputs
from attnviz.anatomy.numbers.claims import modulation
from attnviz.implementations.bugs import cabinet
from attnviz.implementations.bugs.cabinet import BUGS
from tests.lessons.told import step, tells


def test_what_meets_in_self_attention(dog) -> None:
    """Lesson 7, step 1."""
    shown = step("7", 1)
    inputs = site_inputs(shown.model, shown.trace, "encoder_self", 0)
    weights, x = inputs.weights, inputs.input_[0]
    found = modulation(weights, x, 7)
    assert tells("7", "{} %. `self_attn(x, x, x)` still projects", 100 * float(found.moved_share.mean()))
    second = found.plain.topk(2, dim=-1).values
    assert found.plain.argmax(dim=-1).tolist() == list(range(len(x)))
    assert (second[:, 0] - second[:, 1]).min() > 0
    assert tells("7", "this head leaves {} % there", 100 * float(found.own.diagonal().mean()))
    assert found.asymmetry > 0.1
    assert tells("7", "F is not symmetric")
    query, key, _ = query_key_value(inputs)
    torch.testing.assert_close((query[0, 7] @ key[0, 7].T / weights.d_k**0.5).softmax(-1), found.own, atol=1e-5, rtol=0)
    assert max(float(bias.abs().max()) for bias in (weights.b_q, weights.b_k)) > 0.1
    assert tells("7", "the scores are products of x W_q + b_q and x W_k + b_k, divided by √d_k.")
    other = step("7", 6)
    inputs = site_inputs(other.model, other.trace, "encoder_self", 0)
    assert tells(
        "7", "{} % this time.", 100 * float(modulation(inputs.weights, inputs.input_[0], 7).moved_share.mean())
    )


def test_where_heads_lie_in_memory() -> None:
    """Lesson 7, steps 2 to 4."""
    length = 13
    product = torch.randn(2, 8, length, length) @ torch.randn(2, 8, length, 32)
    turned = product.transpose(1, 2)
    assert (turned.data_ptr(), turned.stride(2)) == (product.data_ptr(), length * 32)
    assert tells("7", "are still length × {} numbers away from those of the next", product.shape[-1])
    with pytest.raises(RuntimeError, match="view"):
        turned.view(2, length, 256)
    copied = turned.contiguous()
    assert copied.data_ptr() != product.data_ptr() == turned.data_ptr()
    assert copied.view(2, length, 256).data_ptr() == copied.data_ptr()
    silent = product.view(2, length, 256)
    assert silent.shape == copied.view(2, length, 256).shape
    assert torch.equal(silent[0, 1], product[0].reshape(-1)[256:512]), "rows of one head: eight tokens' in one"
    assert isinstance(256 / 8, float)


def test_a_mask_with_its_new_axis_in_front() -> None:
    """Lesson 7, step 5: right for one sentence, an error for two, silently wrong for as many as there are heads."""

    def fill_both_ways(batch: int, heads: int) -> tuple[torch.Tensor, torch.Tensor]:
        mask = torch.rand(batch, 5, 5, generator=torch.Generator().manual_seed(0)) > 0.5
        scores = torch.zeros(batch, heads, 5, 5)
        return scores.masked_fill(mask.unsqueeze(0), 1), scores.masked_fill(mask.unsqueeze(1), 1)

    assert torch.equal(*fill_both_ways(1, 8))
    with pytest.raises(RuntimeError):
        fill_both_ways(2, 8)
    assert not torch.equal(*fill_both_ways(3, 3))


def test_the_toy_that_leaks() -> None:
    """Lesson 8, steps 2, 3 and 6."""
    trace = step("8", 2).trace
    assert trace.shape("decoder_self") == (1, 2)
    leaks, sound = (trace.attn("decoder_self", layer=0, head=head) for head in (0, 1))
    assert tells("8", "L0 H0 has {} % of its weight one token ahead", 100 * float(leaks.diagonal(1).mean()))
    assert not sound.triu(1).any()
    assert tells("8", "L0 H1 has nothing above the diagonal")
    assert step("8", 3).trace.tgt_text != trace.tgt_text
    healthy = step("8", 6).trace
    assert not any(healthy.attn("decoder_self", layer=0, head=head).triu(1).any() for head in (0, 1))
    assert tells("8", "Both maps end at the diagonal.")


def test_which_checks_find_which_bugs() -> None:
    """Lesson 8, steps 4 and 5: of the checks that are offered, the one that is right fails, and the others pass."""
    shown = step("8", 4)
    inputs = site_inputs(shown.model, shown.trace, "decoder_self", 1)
    sideways, turned = (BUGS[name].attention(inputs) for name in ("softmax_over_queries", "mask_transposed"))
    output, attn = sideways(*inputs.call)
    assert attn is not None
    assert output.shape == inputs.input_.shape
    assert bool(((attn >= 0) & (attn <= 1)).all())
    torch.testing.assert_close(attn.sum(dim=-2), torch.ones_like(attn.sum(dim=-2)))
    assert not cabinet.rows_sum_to_one(sideways, inputs)
    assert cabinet.rows_sum_to_one(turned, inputs)
    assert cabinet.has_the_shape_of_its_input(turned, inputs)
    assert not cabinet.no_row_but_the_last_sees_the_last_token(turned, inputs)
    assert not cabinet.hidden_keys_weigh_nothing(turned, inputs)
    assert [step("8", nth).link.texts["bug"] for nth in (4, 5)] == ["softmax_over_queries", "mask_transposed"]
