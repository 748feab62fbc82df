"""What a trained translator reads: how long the sentences are that it learned from, and how sure it is of others."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from attnviz.models.translator.reads import Reads, sureness
from attnviz.models.translator.translator import Translator
from attnviz.training.corpus import Pair
from attnviz.transformer.checkpoint import CONFIG

Pairs = Mapping[str, Sequence[Pair]]

WHAT = "short English sentences"
ALARMS = 0.014  # of ordinary sentences; with those of unusual length it stays under two in a hundred
MOST, MOST_LENGTHS = 400, 20_000  # sentences a language: translated, and counted


def measured(translator: Translator, learned: Pairs, held_out: Pairs, *, most: int = MOST, seed: int = 0) -> Reads:
    """Count the tokens of English sentences that it learned from, translate held-out ones, and note how sure it is.

    Raises ValueError for a language without pairs.
    """
    if empty := [to for pairs in (learned, held_out) for to, of_language in pairs.items() if not of_language]:
        raise ValueError(f"There are no pairs for {empty[0]!r}: nothing can be measured.")
    lengths = lengths_of(translator, learned, seed=seed)
    found = {
        to: [sureness(translator.trace(text, to=to)) for text in _english(of_language, most, seed)]
        for to, of_language in held_out.items()
    }
    return Reads(
        what=WHAT,
        weights=translator.model_id,
        tokens=(min(lengths), int(np.quantile(lengths, 0.998))),
        usual={to: round(float(np.median(values)), 3) for to, values in found.items()},
        least={to: round(float(np.quantile(values, ALARMS)), 3) for to, values in found.items()},
        sentences=sum(len(values) for values in found.values()),
        alarms=ALARMS,
    )


def lengths_of(translator: Translator, pairs: Pairs, *, seed: int = 0) -> list[int]:
    """Tokens of English sentences, `<eos>` included: of at most `MOST_LENGTHS` a language."""
    texts = (text for of_language in pairs.values() for text in _english(of_language, MOST_LENGTHS, seed))
    return [len(translator.codec.encode_source(text).ids) for text in texts]


def write(reads: Reads, folder: Path) -> None:
    """Put what was measured into the config of a model of the catalogue; everything else in it stays."""
    path = folder / CONFIG
    content = json.loads(path.read_text(encoding="utf-8"))
    content["about"] = content.get("about", {}) | {"reads": reads.to_dict()}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _english(pairs: Sequence[Pair], most: int, seed: int) -> list[str]:
    texts = sorted({source for source, _ in pairs})
    return random.Random(seed).sample(texts, min(most, len(texts)))
