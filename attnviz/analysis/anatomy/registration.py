"""Layers that a module registers, and layers in a plain list, which it does not see (seed 004's code)."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Registered:
    """Parameters that a module with four linear maps reports, by how it keeps them: in `nn.ModuleList`, or in a
    list. Numbers are learned numbers.
    """

    in_module_list: int
    in_list: int
    saved: int  # entries of `state_dict` with the list


class _FourMaps(nn.Module):
    def __init__(self, d_model: int, *, plain: bool) -> None:
        super().__init__()
        maps = [nn.Linear(d_model, d_model) for _ in range(4)]
        self.linears = maps if plain else nn.ModuleList(maps)


def count_parameters(d_model: int) -> Registered:
    """Count the parameters of both; an optimizer is given what `parameters()` finds, a file what `state_dict` does."""
    with torch.device("meta"):
        known, hidden = (_FourMaps(d_model, plain=plain) for plain in (False, True))
    counts = [sum(part.numel() for part in module.parameters()) for module in (known, hidden)]
    return Registered(*counts, saved=len(hidden.state_dict()))
