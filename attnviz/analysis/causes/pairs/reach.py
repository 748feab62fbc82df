"""The causal cone of a patch: the rows of the answer that it can reach at all."""

from typing import Literal

from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Stack

Reach = Literal["memory", "earlier", "all"]


def is_outside(reach: Reach, is_last: bool, after: int) -> bool:
    """Check whether a cell cannot reach the metric. After the last layer of the stack that outputs tokens only the
    metric's own row can; before it, no later row can ("earlier"), where rows attend to earlier ones only.

    `after` is how many rows after the metric's it is.
    """
    if reach == "memory":
        return False
    return (is_last and after != 0) or (reach == "earlier" and after > 0)


def reach_of(model: Model, changed: Trace, stack: Stack) -> Reach:
    """Return which positions of a stack can reach a row of the answer: "memory", where a decoder reads all of it; rows
    up to its own ("earlier"), or all of them ("all": an encoder, or a decoder without its mask).

    "memory": all of an encoder whose output a decoder reads. "earlier": rows up to its own. "all": every row, of an
    encoder alone or of a decoder without its mask.
    """
    if stack == "encoder":
        return "memory" if "cross" in model.kinds else "all"
    layers = range(changed.shape("decoder_self")[0])
    sees = any(bool(changed.layer_mask("decoder_self", layer).triu(1).any()) for layer in layers)
    return "all" if sees else "earlier"
