"""A training run's state on disk: what it was made with and how far it has come."""

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from attnviz.training.recipe import Recipe


@dataclass(frozen=True)
class TrainingProgress:
    """The position of a run."""

    step: int
    epoch: int
    batch: int
    tokens_seen: int


def read_state(path: Path) -> tuple[Recipe, TrainingProgress]:
    """Recipe and place of a saved state. Raises ValueError when there is none or it is broken."""
    if not path.is_file():
        raise ValueError(f"There is no {path.name} in {path.parent.name!r}: train first.")
    state = read(path, torch.device("cpu"))
    return Recipe(**json.loads(state["recipe"])), TrainingProgress(*state["place"])


def read(path: Path, device: torch.device) -> dict[str, Any]:
    """Everything that a trainer saved, on `device`. Raises ValueError when it is broken."""
    try:
        return torch.load(path, map_location=device, weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise ValueError(f"{path.name} is broken: remove it to begin again, or give another --state folder.") from error
