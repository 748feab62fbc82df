"""What sublayers mix: the share that a row keeps is measured, and weights that are not shares are refused."""

import pytest
import torch

import attnviz
from attnviz.analysis.contributions import rollout
from attnviz.analysis.mixing import attention_mixes, residual_shares, sublayers
from attnviz.analysis.residual import residual_maps
from attnviz.transformer.probe import Site


@pytest.fixture(scope="module")
def maps(model, clean):
    return residual_maps(model, clean)


def test_sublayers_stand_as_they_run(clean) -> None:
    below = [("encoder_self", layer) for layer in range(3)]
    above = [(kind, layer) for layer in range(3) for kind in ("decoder_self", "cross")]
    assert list(sublayers(clean)) == below + above


def test_a_row_of_which_no_head_reads_keeps_all(maps, clean, make_trace) -> None:
    off = make_trace(clean.src_text, attnviz.ablate("cross", layer=1), attnviz.ablate("encoder_self", layer=0))
    found = residual_shares(maps, off)
    assert found[Site("cross", 1)] == pytest.approx(1)
    assert found[Site("encoder_self", 0)] == pytest.approx(1)
    assert 0 < found[Site("cross", 0)] < 1


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
def test_the_measured_share_is_that_of_norms_token_by_token(maps, clean, kind) -> None:
    """Kobayashi et al. 2021, with every vector written out."""
    layer = 1
    own, call = maps.output(kind, layer), clean.call(kind, layer)
    attn = clean.attn(kind, layer=layer)
    before = clean.layer_output("encoder" if kind == "encoder_self" else "decoder", layer - 1)
    ratios = []
    for row in range(len(before)):
        parts = [
            sum(attn[head, row, key] * call.value[0, head, key] @ own.weight[head] for head in range(len(attn)))
            for key in range(attn.shape[2])
        ]
        kept = before[row] + parts[row]
        others = sum(part for key, part in enumerate(parts) if key != row)
        ratios.append(float(kept.norm() / (kept.norm() + torch.as_tensor(others).norm())))
    assert residual_shares(maps, clean)[Site(kind, layer)] == pytest.approx(sum(ratios) / len(ratios), abs=1e-4)


def test_anybodys_weights_can_be_rolled_out() -> None:
    attn = torch.rand(2, 3, 4, 4).softmax(-1)
    found = rollout(attnviz.from_tensors(attn, list("abcd")), residual=0.5)
    half = torch.eye(4) / 2
    expected = (attn[1].mean(dim=0) / 2 + half) @ (attn[0].mean(dim=0) / 2 + half)
    torch.testing.assert_close(found.source, expected)


def test_weights_that_are_no_shares_are_refused() -> None:
    twice = attnviz.from_tensors(torch.rand(2, 3, 4, 4).softmax(-1) * 2, list("abcd"))
    with pytest.raises(ValueError, match="are not shares"):
        attention_mixes(twice)
