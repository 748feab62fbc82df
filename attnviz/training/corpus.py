"""Read sentence pairs from disk (TSV, gzipped or not), encode them, and sample batches of similar length."""

import gzip
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, trainers
from torch import Tensor

from attnviz.text.tokenizer import EOS, PAD, UNK, TranslatorTokenizer, bos, pipeline

Pair = tuple[str, str]


def read_pairs(path: Path) -> list[Pair]:
    """Read pairs of English and a translation, one per line, separated by a tab.

    Raises ValueError that names the first bad line.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        pairs = [tuple(line.rstrip("\n").split("\t")) for line in lines]
    for number, pair in enumerate(pairs, 1):
        if len(pair) != 2:
            raise ValueError(f"{path.name}, line {number}: expected English, a tab and the translation.")
    return pairs  # type: ignore[return-value]  # every tuple has two fields, checked above


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """Write pairs, gzipped, in the format that `read_pairs` reads; create the folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(f"{english}\t{translation}\n" for english, translation in pairs)


def read_table(path: Path) -> dict[str, list[Pair]]:
    """Read a table with a column for each language and English first; return the pairs of each other language.

    The first line names the columns. Raises ValueError that names the first bad line.
    """
    text = path.read_text(encoding="utf-8").removesuffix("\n")
    names, *rows = [line.split("\t") for line in text.split("\n")]
    if names[:1] != ["en"] or len(set(names)) < max(2, len(names)):
        raise ValueError(f"{path.name}: the first line must name the columns, each once, en first: en, fr, zh.")
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise ValueError(f"{path.name}, line {number}: expected {len(names)} columns, as in the first line.")
    return {to: [(row[0], row[column]) for row in rows] for column, to in enumerate(names) if column}


@dataclass(frozen=True)
class Corpus:
    """Encoded training pairs of one language: source and target ids, and how often an epoch repeats them."""

    src: list[np.ndarray]
    tgt: list[np.ndarray]
    repeat: int

    @classmethod
    def encode(
        cls, codec: TranslatorTokenizer, pairs: list[Pair], to: str, *, repeat: int, max_tokens: int = 64
    ) -> "Corpus":
        """Encode every pair that fits in `max_tokens`; an epoch uses each pair `repeat` times."""
        sources = codec.source_ids([english for english, _ in pairs])
        targets = codec.target_ids([translation for _, translation in pairs], to)
        both = zip(sources, targets, strict=True)
        fit = [(s, t) for s, t in both if len(s) <= max_tokens and len(t) <= max_tokens]
        src, tgt = [np.array(s, dtype=np.int32) for s, _ in fit], [np.array(t, dtype=np.int32) for _, t in fit]
        return cls(src, tgt, repeat)

    @property
    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pairs of source and target ids."""
        return list(zip(self.src, self.tgt, strict=True))


@dataclass(frozen=True)
class PairBatch:
    """Padded ids: `src` `(batch, k_len)` and `tgt` `(batch, length)`, which includes `<bos:…>` and `<eos>`."""

    src: Tensor
    tgt: Tensor

    @property
    def n_tokens(self) -> int:
        """Number of source and target tokens without padding."""
        return int((self.src != 0).sum() + (self.tgt != 0).sum())


Change = Callable[[np.ndarray, random.Random], np.ndarray]


def epoch_batches(
    corpora: list[Corpus], *, epoch: int, seed: int, batch_tokens: int, begin: int = 0, change: Change | None = None
) -> Iterator[PairBatch]:
    """Yield the batches of one epoch in a random order that depends only on (seed, epoch).

    A batch holds sentences of similar length, about `batch_tokens` tokens with padding. The first `begin` batches are
    skipped. `change` may split a sentence's words into other pieces, with random numbers that depend on (seed, epoch,
    batch).
    """
    rng = random.Random(f"{seed}/{epoch}")
    pairs = [(s, t) for corpus in corpora for _ in range(corpus.repeat) for s, t in corpus.pairs]
    rng.shuffle(pairs)
    batches = []
    for start in range(0, len(pairs), POOL):
        batches += _cut_batches(sorted(pairs[start : start + POOL], key=lambda p: (len(p[1]), len(p[0]))), batch_tokens)
    rng.shuffle(batches)
    for index, batch in enumerate(batches[begin:], start=begin):
        src, tgt = [s for s, _ in batch], [t for _, t in batch]
        if change is not None:
            own = random.Random(f"{seed}/{epoch}/{index}")
            src, tgt = [change(s, own) for s in src], [change(t, own) for t in tgt]
        yield PairBatch(_pad_ids(src), _pad_ids(tgt))


POOL = 20_000  # number of pairs that are sorted by length at a time


def _cut_batches(pairs: list, batch_tokens: int) -> list[list]:
    batches, start, longest = [], 0, (0, 0)
    for end, (src, tgt) in enumerate(pairs):
        grown = (max(longest[0], len(src)), max(longest[1], len(tgt)))
        if end > start and sum(grown) * (end - start + 1) > batch_tokens:
            batches.append(pairs[start:end])
            start, grown = end, (len(src), len(tgt))
        longest = grown
    return [*batches, pairs[start:]]


def _pad_ids(rows: list[np.ndarray]) -> Tensor:
    out = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for index, row in enumerate(rows):
        out[index, : len(row)] = torch.from_numpy(row)
    return out


def build_codec(pairs: Mapping[str, list[Pair]], *, vocab_size: int, alphabet: int = 2_700) -> TranslatorTokenizer:
    """Train a BPE vocabulary on lowercased English and every target language (`pairs`: language -> pairs).

    `alphabet` is the number of single characters that are kept; rarer characters become `<unk>`.
    """
    tokenizer = Tokenizer(models.BPE(unk_token=UNK, fuse_unk=False))
    tokenizer.normalizer, tokenizer.pre_tokenizer = pipeline(lowercase=False, spaced=True, elision=True)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD, UNK, EOS, *(bos(language) for language in pairs)],
        limit_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_sentences(pairs), trainer)
    return TranslatorTokenizer(tokenizer.to_str())


def _sentences(pairs: Mapping[str, list[Pair]]) -> Iterable[str]:
    yield from sorted({english.lower() for of_language in pairs.values() for english, _ in of_language})
    for of_language in pairs.values():
        yield from (translation for _, translation in of_language)
