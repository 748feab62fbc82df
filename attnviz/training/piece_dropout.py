"""Words cut into other pieces now and then, so that a model knows its short pieces too (Provilkov et al. 2020).

Byte-pair encoding merges greedily; here each merge is left out with a probability. A word's cuts are drawn once and
kept in a list to choose from: the draw depends on the word and the seed only, so that a run is repeatable.
"""

import random
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from attnviz.text.normalization import WORD_START
from attnviz.text.tokenizer import TranslatorTokenizer

CUTS = 16  # ways to cut that are kept for each word


class PieceDropout:
    """Changes ids of sentences: special tokens, single characters and lone pieces stay as they are."""

    def __init__(self, codec: TranslatorTokenizer, rate: float, *, seed: int = 0) -> None:
        if not 0 <= rate < 1:
            raise ValueError(f"A dropout rate lies in [0, 1), not {rate}.")
        self.rate, self.seed = rate, seed
        self._pieces, self._special = codec.pieces, codec.special_ids
        self._ids = {piece: id_ for id_, piece in enumerate(codec.pieces)}
        self._rank = {pair: rank for rank, pair in enumerate(codec.merges)}
        self._starts = np.array([self._begins_word(id_) for id_ in range(codec.vocab_size)])
        self._cuts: dict[tuple[int, ...], list[tuple[int, ...]]] = {}

    def __call__(self, ids: np.ndarray, rng: random.Random) -> np.ndarray:
        """Return the same sentence, some words of it in other pieces."""
        words = np.split(ids, np.flatnonzero(self._starts[ids])[1:]) if len(ids) else []
        chosen = [rng.choice(self._spellings(tuple(word.tolist()))) for word in words]
        return np.array([id_ for word in chosen for id_ in word], dtype=ids.dtype)

    def _begins_word(self, id_: int) -> bool:
        piece = self._pieces[id_]
        return id_ in self._special or piece.startswith(WORD_START) or not any(map(str.isalpha, piece))

    def _spellings(self, word: tuple[int, ...]) -> list[tuple[int, ...]]:
        if word not in self._cuts:
            self._cuts[word] = self._draw(word)
        return self._cuts[word]

    def _draw(self, word: tuple[int, ...]) -> list[tuple[int, ...]]:
        text = "".join(self._pieces[id_] for id_ in word)
        if any(id_ in self._special for id_ in word) or any(character not in self._ids for character in text):
            return [word]
        rng = random.Random(f"{self.seed}/{text}")
        return [tuple(self._ids[piece] for piece in self._cut(text, rng)) for _ in range(CUTS)]

    def _cut(self, text: str, rng: random.Random) -> Sequence[str]:
        pieces = list(text)
        while len(pieces) > 1:
            pairs = ((self._rank.get(pair), at) for at, pair in enumerate(pairwise(pieces)))
            known = [(rank, at) for rank, at in pairs if rank is not None and rng.random() >= self.rate]
            if not known:
                break
            _, at = min(known)
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        return pieces
