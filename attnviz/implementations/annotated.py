"""Multi-head attention as in the Annotated Transformer: four unnamed linear layers in a list (seed 000)."""

import math

from torch import Tensor, nn

from attnviz.implementations.weights import SiteWeights, linear


class AnnotatedAttention(nn.Module):
    """Four linear maps for query, key, value and output, told apart only by their order.

    A query without a visible key gets equal weights, because all of its scores are -1e9.
    """

    def __init__(self, weights: SiteWeights) -> None:
        super().__init__()
        self.n_heads, self.scoring = weights.n_heads, weights.scoring
        self.linears = nn.ModuleList(linear(weight, bias) for weight, bias in weights.pairs)

    def forward(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        if mask is not None:
            mask = mask.unsqueeze(1)  # one mask for all heads
        query, key, value = (
            project(x).view(len(x), x.size(1), self.n_heads, -1).transpose(1, 2)
            # Four maps and three inputs: zip stops after three, and the last line uses the fourth map.
            for project, x in zip(self.linears, (input_, memory, memory), strict=False)
        )
        query, key = self.scoring.transform(query, key)  # unchanged, unless the model normalises or rotates them
        scores = self.scoring.add_bias(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)))
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        attn = scores.softmax(dim=-1)
        context = (attn @ value).transpose(1, 2).contiguous()
        return self.linears[-1](context.view(len(input_), input_.size(1), -1)), attn
