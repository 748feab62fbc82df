"""Rollout and ALTI: rows sum to one without being made to, causal ones look back only, and published vectors agree."""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.analysis.contributions import alti, rollout
from attnviz.analysis.mixing import shares
from attnviz.analysis.residual import residual_maps
from tests.each_case import each_case


@each_case("residual", [0.0, 0.3, 0.5, 1.0])
def test_rows_of_source_and_target_sum_to_one(residual, clean) -> None:
    found = rollout(clean, residual=residual)
    torch.testing.assert_close(found.source.sum(dim=1) + found.target.sum(dim=1), torch.ones(len(found.source)))
    assert not found.target.triu(1).any()
    if residual == 1:
        assert torch.equal(found.target, torch.eye(len(found.target)))
        assert not found.source.any()


def test_one_layer_without_residual_is_the_mean_of_its_heads(clean) -> None:
    calls = {site: call for site, call in clean.calls.items() if site.layer == 0}
    one = replace(clean, calls=calls)
    found = rollout(one, residual=0.0)
    memory = one.attn("encoder_self", layer=0).mean(dim=0)
    torch.testing.assert_close(found.source, one.attn("cross", layer=0).mean(dim=0) @ memory)


def test_layers_are_multiplied_in_their_order(clean) -> None:
    """By hand, with every matrix written out."""
    half = torch.eye(len(clean.tokens("src"))) / 2
    memory = torch.eye(len(half))
    for layer in range(3):
        memory = (clean.attn("encoder_self", layer=layer).mean(dim=0) / 2 + half) @ memory
    rows = clean.logits.shape[1]
    source, target = torch.zeros(rows, len(half)), torch.eye(rows)
    for layer in range(3):
        own = clean.attn("decoder_self", layer=layer).mean(dim=0) / 2 + torch.eye(rows) / 2
        source, target = own @ source, own @ target
        source, target = clean.attn("cross", layer=layer).mean(dim=0) @ memory / 2 + source / 2, target / 2
    torch.testing.assert_close(rollout(clean).source, source)
    torch.testing.assert_close(rollout(clean).target, target)


@pytest.mark.parametrize(
    ("parts", "whole", "expected"),
    [  # of llm-transparency-tool's tests: heads, then the residual; distances are Euclidean there
        ([(1, 1), (-1, 0), (2, 1)], (2, 2), (0.43613, 0, 0.56387)),
        ([(0, 1), (1, 0), (-21, -1), (10, 10)], (-10, 10), (1, 0, 0, 0)),
    ],
)
def test_shares_are_those_that_others_publish(parts, whole, expected) -> None:
    found = shares(torch.tensor(parts, dtype=torch.float), torch.tensor(whole, dtype=torch.float), norm=2)
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float), atol=1e-5, rtol=0)


@pytest.fixture(scope="module")
def maps(model, clean):
    return residual_maps(model, clean)


def test_altis_rows_sum_to_one_and_look_back_only(maps, clean) -> None:
    found = alti(maps, clean)
    torch.testing.assert_close(found.source.sum(dim=1) + found.target.sum(dim=1), torch.ones(len(found.source)))
    assert not found.target.triu(1).any()
    assert bool((found.source >= 0).all())


def test_a_source_token_that_nobody_looks_at_has_nothing(maps, clean, make_trace) -> None:
    rows, keys = clean.logits.shape[1], len(clean.tokens("src"))
    third = torch.eye(keys)[2].expand(rows, keys)
    looks = make_trace(
        clean.src_text,
        attnviz.ablate("encoder_self", to="diagonal"),
        attnviz.edit("cross", third, layer=0),
        attnviz.ablate("cross", layer=1),
        attnviz.ablate("cross", layer=2),
    )
    found = alti(maps, looks).source
    assert not found[:, [at for at in range(keys) if at != 2]].any()
    assert bool((found[:, 2] > 0).all())


def test_a_share_that_is_none_is_refused(clean) -> None:
    with pytest.raises(ValueError, match="a share from 0 to 1"):
        rollout(clean, residual=1.5)
