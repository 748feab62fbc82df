"""Make a model for the catalogue from a training run: weights, tokenizer, card, and a config with measured limits."""

import json
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnviz.models.translator.reading_notes import ReadableInputs, mean_log_probability
from attnviz.models.translator.translator import Translator
from attnviz.training.corpus import Pair
from attnviz.transformer import checkpoint

Pairs = Mapping[str, Sequence[Pair]]  # by language

_READABLE = "short English sentences"
_LEAST = 0.014  # share of ordinary sentences below `least`; with those of unusual length, it is under 2 %
_MOST_LENGTHS, _MOST_TRANSLATED = 20_000, 400  # sentences of a language that are measured, and translated


@dataclass(frozen=True)
class About:
    """Facts about a model for the catalogue: its title, and the head that is shown first, as `kind.layer.head`."""

    title: str
    start: str = "cross.0.0"

    def to_dict(self, languages: tuple[str, ...]) -> dict[str, Any]:
        """Return the facts in the form of `config.json`. Raises ValueError if `start` is not `kind.layer.head`."""
        kind, layer, head = (*self.start.split("."), "", "")[:3]
        if not (layer.isdecimal() and head.isdecimal()):
            raise ValueError(f"--start is kind.layer.head, such as cross.1.2, not {self.start!r}.")
        return {
            "title": self.title,
            "languages": list(languages),
            "start": {"kind": kind, "layer": int(layer), "head": int(head)},
        }


def ship(
    translator: Translator, trained: Path, folder: Path, *, about: About, card: str, learned: Pairs, held_out: Pairs
) -> None:
    """Write a model for the catalogue into `folder`: float16 weights, tokenizer, and `README.md` as its card.

    The config says which inputs the model can read. This is measured with the shipped weights, on pairs that the model
    `learned` from and on `held_out` pairs.
    """
    said = about.to_dict(translator.languages)
    checkpoint.save(translator.model, folder, dtype=torch.float16, about=said)
    shutil.copyfile(trained / "tokenizer.json", folder / "tokenizer.json")
    (folder / "README.md").write_text(card, encoding="utf-8")
    shipped = Translator.load(folder, device=translator.device, dtype=torch.float32)
    path = folder / checkpoint.CONFIG
    content = json.loads(path.read_text(encoding="utf-8"))
    content["about"]["reads"] = readable_inputs(shipped, learned, held_out).to_dict()
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def readable_inputs(translator: Translator, learned: Pairs, held_out: Pairs) -> ReadableInputs:
    """Measure the length of the English training sentences, and the model's log-probability of its own translations."""
    lengths = [
        len(translator.codec.encode_source(text).ids)
        for pairs in learned.values()
        for text in _english(pairs, _MOST_LENGTHS)
    ]
    own = {
        to: [mean_log_probability(translator.trace(text, to=to)) for text in _english(pairs, _MOST_TRANSLATED)]
        for to, pairs in held_out.items()
    }
    return ReadableInputs(
        what=_READABLE,
        weights=translator.model_id,
        tokens=(min(lengths), int(np.quantile(lengths, 0.998))),
        usual={to: round(float(np.median(values)), 3) for to, values in own.items()},
        least={to: round(float(np.quantile(values, _LEAST)), 3) for to, values in own.items()},
    )


def _english(pairs: Sequence[Pair], most: int) -> list[str]:
    texts = sorted({source for source, _ in pairs})
    return random.Random(0).sample(texts, min(most, len(texts)))
