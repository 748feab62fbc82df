"""Positions of a stack that can reach one row of the answer: the causal cone of a patch."""

from typing import Literal

from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Stack

Reach = Literal["memory", "earlier", "all"]


def is_outside(reach: Reach, is_last: bool, after: int) -> bool:
    """Whether a cell cannot reach the metric. After the last layer of the stack that puts tokens out no row but the
    metric's own can; before it, no row that comes later ("earlier"), where rows see only what came before.

    `after` is how many rows after the metric's it is.
    """
    if reach == "memory":
        return False
    return (is_last and after != 0) or (reach == "earlier" and after > 0)


def reach_of(model: Model, changed: Trace, stack: Stack) -> Reach:
    """Return the positions of a stack that can reach a row of the answer.

    "memory": all of an encoder whose output a decoder reads. "earlier": rows up to its own. "all": every row, of an
    encoder alone or of a decoder without its mask.
    """
    if stack == "encoder":
        return "memory" if "cross" in model.kinds else "all"
    layers = range(changed.shape("decoder_self")[0])
    sees = any(bool(changed.layer_mask("decoder_self", layer).triu(1).any()) for layer in layers)
    return "all" if sees else "earlier"
