"""What a trained translator reads, measured on held-out sentences: how long they are, and how sure it is of them."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from attnviz.models.reads import Reads, sureness
from attnviz.models.translator import Translator
from attnviz.training.corpus import Pair
from attnviz.transformer.checkpoint import CONFIG

WHAT = "short English sentences"
ALARMS = 0.014  # of ordinary sentences; with those of unusual length it stays under two in a hundred
MOST = 400  # sentences a language


def measured(translator: Translator, pairs: Mapping[str, Sequence[Pair]], *, most: int = MOST, seed: int = 0) -> Reads:
    """Translate held-out English sentences, and note where the surest and the least sure of them lie.

    Raises ValueError for a language without pairs.
    """
    if empty := [to for to, of_language in pairs.items() if not of_language]:
        raise ValueError(f"There are no held-out pairs for {empty[0]!r}: nothing can be measured.")
    english = {to: sorted({source for source, _ in of_language}) for to, of_language in pairs.items()}
    lengths = [len(translator.codec.encode_source(text).ids) for texts in english.values() for text in texts]
    found = {to: _sureness(translator, texts, to, most=most, seed=seed) for to, texts in english.items()}
    return Reads(
        what=WHAT,
        weights=translator.model_id,
        tokens=(int(np.quantile(lengths, 0.001)), int(np.quantile(lengths, 0.998))),
        usual={to: round(float(np.median(values)), 3) for to, values in found.items()},
        least={to: round(float(np.quantile(values, ALARMS)), 3) for to, values in found.items()},
        sentences=sum(len(values) for values in found.values()),
        alarms=ALARMS,
    )


def write(reads: Reads, folder: Path) -> None:
    """Put what was measured into the config of a model of the catalogue; everything else in it stays."""
    path = folder / CONFIG
    content = json.loads(path.read_text(encoding="utf-8"))
    content["about"] = content.get("about", {}) | {"reads": reads.to_dict()}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _sureness(translator: Translator, texts: Sequence[str], to: str, *, most: int, seed: int) -> list[float]:
    chosen = random.Random(seed).sample(texts, min(most, len(texts)))
    return [sureness(translator.trace(text, to=to)) for text in chosen]
