"""The usual effect of each head, measured over sentences: `python -m attnviz.causes.numbers` writes it.

A file beside the shipped weights holds, by language, the mean and the spread of each head's effect when it is switched
off; it is for those weights alone, which it names.
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
    """Read the stored effects for these weights and this language; None without any."""
    for path in sorted(catalogue.SHIPPED.glob(f"*/{NAME}")):
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["weights"] == model.model_id and to in said["languages"]:
            return _read(said["languages"][to], len(head_places(model)))
    return None


def _read(said: dict[str, Any], count: int) -> ReferenceEffects | None:
    mean, spread = (torch.tensor(said[name], dtype=torch.float32) for name in ("mean", "spread"))
    return ReferenceEffects(mean, spread, said["sentences"]) if len(mean) == len(spread) == count else None


def measured_usual(model: Model, texts: Iterable[str], to: str) -> ReferenceEffects:
    """Measure the effects over sentences, each with the translation that the model itself writes."""
    return reference_effects(model, (model.trace(text, to=to) for text in texts))


def write(path: Path, weights: str, found: dict[str, ReferenceEffects]) -> None:
    """Write the file; heads are in the order of `runs.head_places`, numbers in nats a token."""
    languages = {to: _to_json(effects) for to, effects in sorted(found.items())}
    path.write_text(json.dumps({"weights": weights, "languages": languages}, indent=None) + "\n", encoding="utf-8")


def _to_json(effects: ReferenceEffects) -> dict[str, Any]:
    numbers = {
        name: [round(value, _DIGITS) for value in getattr(effects, name).tolist()] for name in ("mean", "spread")
    }
    return {"sentences": effects.sentences, **numbers}
