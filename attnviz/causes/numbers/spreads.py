"""The usual effect of switching off each head, measured over sentences by `python -m attnviz.causes.numbers`.

A file beside the shipped weights stores, by language, the mean and standard deviation of each head's effect. The file
names the weights for which it is valid.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from attnviz.analysis.runs import head_places
from attnviz.causes.numbers.effects import ReferenceEffects, reference_effects
from attnviz.models import catalogue
from attnviz.models.protocol import Model

NAME = "head-effects.json"
_DIGITS = 6


def usual_effects(model: Model, to: str) -> ReferenceEffects | None:
    """Read the stored effects for this model's weights and this language; None if there are none."""
    for path in sorted(catalogue.SHIPPED.glob(f"*/{NAME}")):
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["weights"] == model.model_id and to in said["languages"]:
            return _read(said["languages"][to], len(head_places(model)))
    return None


def _read(said: dict[str, Any], count: int) -> ReferenceEffects | None:
    mean, spread = (torch.tensor(said[name], dtype=torch.float32) for name in ("mean", "spread"))
    return ReferenceEffects(mean, spread, said["sentences"]) if len(mean) == len(spread) == count else None


def measured_usual(model: Model, texts: Iterable[str], to: str) -> ReferenceEffects:
    """Measure the usual effects over sentences, each with the translation that the model itself writes."""
    return reference_effects(model, (model.trace(text, to=to) for text in texts))


def write(path: Path, weights: str, found: dict[str, ReferenceEffects]) -> None:
    """Write the effects to a file, with heads in the order of `runs.head_places` and values in nats per token."""
    languages = {to: _to_json(effects) for to, effects in sorted(found.items())}
    path.write_text(json.dumps({"weights": weights, "languages": languages}, indent=None) + "\n", encoding="utf-8")


def _to_json(effects: ReferenceEffects) -> dict[str, Any]:
    numbers = {
        name: [round(value, _DIGITS) for value in getattr(effects, name).tolist()] for name in ("mean", "spread")
    }
    return {"sentences": effects.sentences, **numbers}
