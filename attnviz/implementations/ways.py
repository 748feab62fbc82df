"""Implementations of multi-head attention, each with its source code and the location of a head's weights."""

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from attnviz.implementations.pytorch import TorchFusedAttention, TorchModuleAttention
from attnviz.implementations.scoring import PLAIN, Scoring
from attnviz.implementations.sequence_first import RelativeAttention, SequenceFirst, SequenceFirstAttention
from attnviz.implementations.weights import Attention, SiteWeights, linear
from attnviz.tracing.recorder import Recorder
from attnviz.transformer import attention
from attnviz.transformer.attention import MultiHeadAttention, call_attn
from attnviz.transformer.probe import AttentionCall, Site

_HERE = Site("encoder_self", 0)


@dataclass(frozen=True, eq=False)
class SingleAttention:
    """One head without `W_o`: `W_Q` and `W_K` `(d_model, d_k)`, `W_V` `(d_model, size of the output)`."""

    W_Q: Tensor
    b_Q: Tensor  # noqa: N815 - beside the paper's W_Q
    W_K: Tensor
    b_K: Tensor  # noqa: N815 - beside the paper's W_K
    W_V: Tensor
    b_V: Tensor  # noqa: N815 - beside the paper's W_V
    scoring: Scoring = PLAIN  # norms and rotation of queries and keys, if the model has them

    @classmethod
    def from_site(cls, weights: SiteWeights, head: int) -> "SingleAttention":
        """Return one head of a site. Its output is the head's context before `W_o`."""
        keys, values = weights.rows(head, weights.d_k), weights.rows(head, weights.d_v)
        return cls(
            weights.W_q[keys].T,
            weights.b_q[keys],
            weights.W_k[keys].T,
            weights.b_k[keys],
            weights.W_v[values].T,
            weights.b_v[values],
            weights.scoring.head_scoring(head),
        )

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        query, key = input_ @ self.W_Q + self.b_Q, memory @ self.W_K + self.b_K
        value = memory @ self.W_V + self.b_V
        query, key = self.scoring.transform(query, key)
        scores = self._add_bias(query @ key.mT / math.sqrt(query.shape[-1]))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        attn = scores.softmax(dim=-1)
        return attn @ value, attn

    def _add_bias(self, scores: Tensor) -> Tensor:
        return self.scoring.add_bias(scores.unsqueeze(1)).squeeze(1)  # a single head has no head dimension


class SumOfSingles:
    """Multi-head attention as a sum of single attentions, without `W_o`.

    The part of `W_o` for head h is multiplied into its `W_V`, which then maps `d_model` to `d_model`.
    """

    def __init__(self, weights: SiteWeights) -> None:
        self.heads = [self._fold(weights, head) for head in range(weights.n_heads)]
        self.b_o = weights.b_o

    def _fold(self, weights: SiteWeights, head: int) -> SingleAttention:
        plain = SingleAttention.from_site(weights, head)
        W_O = weights.W_o[:, weights.rows(head, weights.d_v)].T  # noqa: N806 - the paper's name
        return replace(plain, W_V=plain.W_V @ W_O, b_V=plain.b_V @ W_O)

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        outputs, maps = zip(*(head(input_, memory, mask) for head in self.heads), strict=True)
        return torch.stack(outputs).sum(dim=0) + self.b_o, torch.stack(maps, dim=1)


class PerHeadAttention:
    """`W_Q` and `W_K` `(heads, d_model, d_k)`, `W_V` `(heads, d_model, d_v)`, `W_O` `(heads, d_v, d_model)`.

    The code is the formula of one head, and the head dimension extends it to all heads. It needs no view and no
    transpose, because heads are never joined in one dimension: `Concat(head_1, …) W_O` is the sum of every head's
    context times its own `W_O`.
    """

    def __init__(self, weights: SiteWeights) -> None:
        heads, self.scoring = weights.n_heads, weights.scoring
        (W_q, b_q), (W_k, b_k), (W_v, b_v), (W_o, self.b_O) = weights.pairs  # noqa: N806 - the paper's names
        self.W_Q, self.b_Q = W_q.unflatten(0, (heads, -1)).mT, b_q.view(heads, 1, -1)
        self.W_K, self.b_K = W_k.unflatten(0, (heads, -1)).mT, b_k.view(heads, 1, -1)
        self.W_V, self.b_V = W_v.unflatten(0, (heads, -1)).mT, b_v.view(heads, 1, -1)
        self.W_O = W_o.T.unflatten(0, (heads, -1))

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        input_, memory = input_.unsqueeze(1), memory.unsqueeze(1)  # (batch, 1, length, d_model), for every head
        query = input_ @ self.W_Q + self.b_Q
        key = memory @ self.W_K + self.b_K
        value = memory @ self.W_V + self.b_V
        query, key = self.scoring.transform(query, key)
        scores = self.scoring.add_bias(query @ key.mT / math.sqrt(query.shape[-1]))
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(1), -math.inf)
        attn = scores.softmax(dim=-1)
        return (attn @ value @ self.W_O).sum(dim=1) + self.b_O, attn


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


class _Scored(Recorder):
    """A recorder that first normalises and rotates queries and keys as the model does; `attend` continues with
    that call.
    """

    def __init__(self, scoring: Scoring) -> None:
        super().__init__()
        self.scoring = scoring

    def on_call(self, site: Site, call: AttentionCall) -> AttentionCall:
        """Normalise and rotate the call's queries and keys, and add the bias."""
        query, key = self.scoring.transform(call.query, call.key)
        bias = self.scoring.bias and self.scoring.bias.cells(query.shape[2], key.shape[2]).unsqueeze(0)
        return super().on_call(site, replace(call, query=query, key=key, bias=bias))


class RefactoredAttention:
    """`MultiHeadAttention` of `attnviz.transformer`: named projections, `input_` and `memory`, no stored weights.

    The fused kernel computes the output; the weights are computed from the recorded query and key. A query without a
    visible key gets zeros. Raise ValueError if `d_v` differs from `d_k`.
    """

    def __init__(self, weights: SiteWeights) -> None:
        if weights.d_v != weights.d_k:
            raise ValueError(f"The package's own attention needs d_v = d_k, not {weights.d_v} and {weights.d_k}.")
        self.scoring = weights.scoring
        self.module = MultiHeadAttention(weights.d_model, weights.n_heads, weights.d_k)
        for name, (weight, bias) in zip(("W_q", "W_k", "W_v", "W_o"), weights.pairs, strict=True):
            setattr(self.module, name, linear(weight, bias))

    def __call__(self, input_: Tensor, memory: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Compute output and weights, with shapes as in `Attention`."""
        recorder = _Scored(self.scoring)
        output = self.module(input_, memory, mask, site=_HERE, probe=recorder)
        return output, call_attn(recorder.calls[_HERE])


@dataclass(frozen=True)
class Way:
    """One implementation: its title, a sentence about it, its constructor, and the objects whose source is shown.

    `slices` has, for each role, the expression for one head's matrix in the result of `make`; see `slice_of`.
    """

    title: str
    about: str
    make: Callable[[SiteWeights], Attention]
    shown: tuple[Callable, ...]
    slices: Mapping[str, str]
    transformed_slices: Mapping[str, str] = field(
        default_factory=dict
    )  # for a model that normalises or rotates queries and keys

    def source(self) -> str:
        """Return the source code of the implementation."""
        source = "\n\n".join(inspect.getsource(part).rstrip() for part in self.shown)
        return re.sub(r"  # noqa:.*", "", source)  # linter directives

    def slice_of(self, role: str, head: int, weights: SiteWeights) -> str:
        """Return the expression for a head's matrix in a role ("Q", "K", "V", "O"), with indices filled in.

        `Q` and `K` are `(d_model, d_k)`, `V` is `(d_model, d_v)` and `O` is `(d_v, d_model)`.
        """
        size = weights.d_k if role in "QK" else weights.d_v
        base = weights.n_heads * weights.d_k
        numbers = {"head": head, "a": head * size, "b": (head + 1) * size}
        shift = {"K": base, "V": 2 * base}.get(role, 0)
        turned = self.transformed_slices if weights.is_transformed else {}
        return {**self.slices, **turned}[role].format(**numbers, c=shift + numbers["a"], d=shift + numbers["b"])


def _linears(query: str, key: str, value: str, output: str) -> dict[str, str]:
    """Return the slice expressions for roles whose weights have the layout of `nn.Linear`."""
    rows = {"Q": query, "K": key, "V": value}
    return {role: name + "[{a}:{b}].T" for role, name in rows.items()} | {"O": output + "[:, {a}:{b}].T"}


WAYS: Mapping[str, Way] = {
    "annotated": Way(
        "Annotated",
        "Four unnamed linear layers in a list, which can be told apart only by their order.",
        AnnotatedAttention,
        (AnnotatedAttention,),
        _linears("linears[0].weight", "linears[1].weight", "linears[2].weight", "linears[3].weight"),
    ),
    "refactored": Way(
        "Refactored (attnviz's own)",
        "The projections have names, the inputs are called input_ and memory, and nothing is stored "
        "on the module. Every page of attnviz runs this code.",
        RefactoredAttention,
        (attention.MultiHeadAttention, attention.scores, attention.masked_softmax, attention.context),
        _linears("module.W_q.weight", "module.W_k.weight", "module.W_v.weight", "module.W_o.weight"),
    ),
    "per_head": Way(
        "Per-head parameters",
        "The parameters themselves have a head axis, so the formula for one head computes all heads at once.",
        PerHeadAttention,
        (PerHeadAttention,),
        {role: f"W_{role}[{{head}}]" for role in "QKVO"},
    ),
    "sequence_first": Way(
        "Sequence first",
        "(length, batch, heads, d_k) and einsum; get_scores can be replaced, and relative positions replace it.",
        lambda weights: SequenceFirst(SequenceFirstAttention(weights)),
        (SequenceFirstAttention, RelativeAttention),
        _linears("module.query.weight", "module.key.weight", "module.value.weight", "module.output.weight"),
    ),
    "single": Way(
        "Single attentions, added",
        "Plain attention with one head and no W_o, once for each head: W_o is multiplied into each W_V.",
        SumOfSingles,
        (SingleAttention, SumOfSingles),
        {"Q": "heads[{head}].W_Q", "K": "heads[{head}].W_K", "V": "heads[{head}].W_V", "O": ""},
    ),
    "torch_module": Way(
        "nn.MultiheadAttention",
        "PyTorch's module. A single matrix contains the three projections, and True in a mask means "
        "that the key is hidden.",
        TorchModuleAttention,
        (TorchModuleAttention,),
        dict.fromkeys("QKV", "module.in_proj_weight[{c}:{d}].T") | {"O": "module.out_proj.weight[:, {a}:{b}].T"},
        {"Q": "weights.W_q[{a}:{b}].T", "K": "weights.W_k[{a}:{b}].T"},
    ),
    "torch_fused": Way(
        "Fused function",
        "F.scaled_dot_product_attention: the weights never exist as a tensor, so there are none to return.",
        TorchFusedAttention,
        (TorchFusedAttention,),
        _linears("weights.W_q", "weights.W_k", "weights.W_v", "weights.W_o"),
    ),
}
