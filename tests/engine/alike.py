"""Check that two traces belong to the same run."""

import torch

from attnviz.tracing.trace import Trace


def assert_alike(one: Trace, other: Trace, *, within: float = 0.0) -> None:
    """Require equal numbers within a tolerance, and the same tokens, texts and interventions."""
    assert one.sentences == other.sentences
    assert one.kinds == other.kinds
    assert list(map(str, one.interventions)) == list(map(str, other.interventions))
    for item in range(len(one.sentences)):
        for kind in one.kinds:
            _same(one.attn(kind, item=item), other.attn(kind, item=item), within)
            for layer in range(one.shape(kind)[0]):
                assert torch.equal(one.layer_mask(kind, layer, item), other.layer_mask(kind, layer, item))
    assert one.contexts.keys() == other.contexts.keys()
    assert one.layers.keys() == other.layers.keys()
    for parts in ("contexts", "layers"):
        for key, tensor in getattr(one, parts).items():
            _same(tensor, getattr(other, parts)[key], within)
    for name in ("memory", "logits"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        if first is not None:
            _same(first, second, within)


def _same(one: torch.Tensor, other: torch.Tensor, within: float) -> None:
    assert one.shape == other.shape
    torch.testing.assert_close(one.float().cpu(), other.float(), atol=within, rtol=within, equal_nan=True)
