"""From a training run's folder to a model of the catalogue: weights, tokenizer, what is said of it, and its card."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from attnviz.models.translator.translator import Translator
from attnviz.transformer import checkpoint


@dataclass(frozen=True)
class About:
    """What the catalogue says of a model: its title, and the head that is shown first, as `kind.layer.head`."""

    title: str
    start: str = "cross.0.0"

    def to_dict(self, languages: tuple[str, ...]) -> dict[str, Any]:
        """As `config.json` holds it. Raises ValueError for a start that is not `kind.layer.head`."""
        kind, layer, head = (*self.start.split("."), "", "")[:3]
        if not (layer.isdecimal() and head.isdecimal()):
            raise ValueError(f"--start is kind.layer.head, such as cross.1.2, not {self.start!r}.")
        return {
            "title": self.title,
            "languages": list(languages),
            "start": {"kind": kind, "layer": int(layer), "head": int(head)},
        }


def ship(translator: Translator, trained: Path, folder: Path, *, about: About, card: str) -> None:
    """Write a model of the catalogue into `folder`: float16 weights, and `README.md` as its card."""
    checkpoint.save(translator.model, folder, dtype=torch.float16, about=about.to_dict(translator.languages))
    shutil.copyfile(trained / "tokenizer.json", folder / "tokenizer.json")
    (folder / "README.md").write_text(card, encoding="utf-8")
