"""Attention flow (Abnar and Zuidema 2020): the maximum flow from each token, with attention shares as edge capacities.

The capacities are the shares that rollout mixes. Each pair of a row and a token is a maximum-flow problem of its own,
so the values of a row sum to more than 1. A value is never less than rollout, which is one feasible flow.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from attnviz.analysis.contributions import Contributions
from attnviz.analysis.mixing import Mix

if TYPE_CHECKING:
    import networkx as nx

MOST = 32  # maximum tokens of source and target; with more, a row takes seconds
_UNIT = 10**6  # scale of shares to integers; with floats the search may not terminate
_Node = tuple[str, int, int]  # stack, height and position


def max_flow(mixes: Sequence[Mix], row: int, *, target: bool = True) -> Contributions:
    """Compute the flow from one row of the last layer to each source token and to each target token, 0 to 1.

    Without `target`, only the flow to the source is computed. Raise ValueError for a text of more than `MOST` tokens,
    or a row that does not exist.
    """
    length = max(max(mix.read.shape) for mix in mixes)
    if length > MOST:
        raise ValueError(f"Maximum flow is computed for up to {MOST} tokens; this text has {length}.")
    rows = len(mixes[-1].read)
    if not 0 <= row < rows:
        raise ValueError(f"There is no row {row}: this text has rows 0 to {rows - 1}.")
    pipes = _pipes(mixes)
    top = (mixes[-1].stack, _height(mixes, mixes[-1].stack), row)
    source = _flows(pipes, top, "encoder", _width(mixes, "encoder"))
    own = _flows(pipes, top, "decoder", _width(mixes, "decoder") if target else 0)
    return Contributions(source.unsqueeze(0), own.unsqueeze(0))


def _pipes(mixes: Sequence[Mix]) -> "nx.DiGraph":
    """Build the flow network: a node for each position before and after each sublayer, with edges back to the text."""
    import networkx as nx  # imported here because it takes 0.2 s
    from networkx.algorithms.flow import build_residual_network

    pipes = nx.DiGraph()
    for stack in ("encoder", "decoder"):
        for height, mix in enumerate(one for one in mixes if one.stack == stack):
            _add(pipes, mix, height, _height(mixes, "encoder"))
    return build_residual_network(pipes, "capacity")


def _add(pipes: "nx.DiGraph", mix: Mix, height: int, memory: int) -> None:
    through = mix.kept_share.diag() if mix.kind == "cross" else mix.weights_with_self
    targets: list[tuple[torch.Tensor, str, int]] = [(through, mix.stack, height)]
    if mix.kind == "cross":
        targets.append((mix.read, "encoder", memory))
    for shares, stack, below in targets:
        for row, key in shares.nonzero().tolist():
            capacity = round(float(shares[row, key]) * _UNIT)
            pipes.add_edge((mix.stack, height + 1, row), (stack, below, key), capacity=capacity)


def _flows(pipes: "nx.DiGraph", top: _Node, stack: str, width: int) -> torch.Tensor:
    ends = [(stack, 0, at) for at in range(width)]
    found = [1.0 if end == top else _flow(pipes, top, end) for end in ends]
    return torch.tensor(found).reshape(-1)


def _flow(pipes: "nx.DiGraph", top: _Node, end: _Node) -> float:
    from networkx.algorithms.flow import shortest_augmenting_path

    if end not in pipes:
        return 0.0
    return shortest_augmenting_path(pipes, top, end, residual=pipes, value_only=True).graph["flow_value"] / _UNIT


def _height(mixes: Sequence[Mix], stack: str) -> int:
    return sum(mix.stack == stack for mix in mixes)


def _width(mixes: Sequence[Mix], stack: str) -> int:
    """Return the number of tokens that the stack "encoder" or "decoder" reads.

    If the encoder's layers are unknown, this is the number of keys in cross-attention.
    """
    if stack == "decoder":
        return next((len(mix.read) for mix in mixes if mix.kind == "decoder_self"), 0)
    return next((mix.read.shape[1] for mix in mixes if mix.kind != "decoder_self"), 0)
