"""One attention site line by line, with explicit matrix products: every tensor with its dimensions, strides and
bytes.
"""

from typing import Literal

import torch

from attnviz.anatomy.numbers.walk_batch_first import BatchFirstWalk
from attnviz.anatomy.numbers.walk_lines import WalkStep
from attnviz.anatomy.numbers.walk_sequence_first import SequenceFirstWalk
from attnviz.implementations.site_inputs import SiteInputs

Layout = Literal["batch_first", "sequence_first"]
LAYOUTS: tuple[Layout, ...] = ("batch_first", "sequence_first")


@torch.inference_mode()
def shape_walk(inputs: SiteInputs, layout: str = "batch_first") -> tuple[WalkStep, ...]:
    """Run one site on its inputs, and return every line in order. Raise ValueError for an unknown layout."""
    if layout not in LAYOUTS:
        raise ValueError(f"layout is one of {', '.join(LAYOUTS)}, not {layout!r}.")
    return tuple((BatchFirstWalk(inputs) if layout == "batch_first" else SequenceFirstWalk(inputs)).steps())
