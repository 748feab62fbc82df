"""The package's own attention, with recorded weights as the second result."""

from dataclasses import replace

from torch import Tensor

from attnviz.implementations.scoring import Scoring
from attnviz.implementations.weights import SiteWeights, linear
from attnviz.tracing.recorder import Recorder
from attnviz.transformer.attention import MultiHeadAttention, call_attn
from attnviz.transformer.probe import AttentionCall, Site

_HERE = Site("encoder_self", 0)


class _Scored(Recorder):
    """A recorder that first transforms queries and keys as the model does; `attend` continues with its call."""

    def __init__(self, scoring: Scoring) -> None:
        super().__init__()
        self.scoring = scoring

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Normalise and rotate the call's queries and keys, and add its bias."""
        query, key = self.scoring.transform(call.query, call.key)
        bias = self.scoring.bias and self.scoring.bias.cells(query.shape[2], key.shape[2]).unsqueeze(0)
        return super().on_call(site, replace(call, query=query, key=key, bias=bias))


class RefactoredAttention:
    """`MultiHeadAttention` of `attnviz.transformer`: named projections, `input_` and `memory`, no weights kept.

    The fused kernel computes the output; the weights are computed from the recorded query and key. A query without a
    visible key gets zeros. Raises ValueError where `d_v` differs from `d_k`.
    """

    def __init__(self, weights: SiteWeights) -> None:
        if weights.d_v != weights.d_k:
            raise ValueError(f"The package's own attention needs d_v = d_k, not {weights.d_v} and {weights.d_k}.")
        self.scoring = weights.scoring
        self.module = MultiHeadAttention(weights.d_model, weights.n_heads, weights.d_k)
        for name, (weight, bias) in zip(("W_q", "W_k", "W_v", "W_o"), weights.pairs, strict=True):
            setattr(self.module, name, linear(weight, bias))

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with the axes of `Attention`."""
        recorder = _Scored(self.scoring)
        output = self.module(input_, memory, mask, site=_HERE, probe=recorder)
        return output, call_attn(recorder.calls[_HERE])
