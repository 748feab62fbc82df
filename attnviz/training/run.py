"""Run one training: from pairs on disk to a checkpoint, a log of scores, and a state from which to resume."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from tqdm import tqdm

from attnviz.models.translator.translator import Translator
from attnviz.text.tokenizer import WORD_START, TranslatorTokenizer
from attnviz.toys.translator.recording import WatchedLine
from attnviz.training.corpus import Corpus, Pair, build_codec, read_pairs, read_table
from attnviz.training.evaluation import Score, score
from attnviz.training.recipe import Recipe
from attnviz.training.trainer import Trainer, train
from attnviz.training.watch import TrainingWatch, watched_lines
from attnviz.training.workers import Share
from attnviz.transformer import checkpoint
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.device import choose_device

Pairs = dict[str, list[Pair]]

STATE, RECORDING = "state.pt", "recording.npz"


CUTS = 16  # different splits that are kept for each word


class PieceDropout:
    """Split words into other pieces at random, so that a model also learns its short pieces (BPE-dropout).

    Byte-pair encoding merges greedily; here each merge is left out with probability `rate` (Provilkov et al. 2020). The
    splits of a word depend only on the word and the seed, so that a run is repeatable. Special tokens, single
    characters and words of one piece stay unchanged.
    """

    def __init__(self, codec: TranslatorTokenizer, rate: float, *, seed: int = 0) -> None:
        if not 0 <= rate < 1:
            raise ValueError(f"A dropout rate must be at least 0 and below 1, not {rate}.")
        self.rate, self.seed = rate, seed
        self._pieces, self._special = codec.pieces, codec.special_ids
        self._ids = {piece: id_ for id_, piece in enumerate(codec.pieces)}
        self._rank = {pair: rank for rank, pair in enumerate(codec.merges)}
        self._starts = np.array([self._begins_word(id_) for id_ in range(codec.vocab_size)])
        self._cuts: dict[tuple[int, ...], list[tuple[int, ...]]] = {}

    def __call__(self, ids: np.ndarray, rng: random.Random) -> np.ndarray:
        """Return the ids of the same sentence, with some words split into other pieces."""
        words = np.split(ids, np.flatnonzero(self._starts[ids])[1:]) if len(ids) else []
        chosen = [rng.choice(self._spellings(tuple(word.tolist()))) for word in words]
        return np.array([id_ for word in chosen for id_ in word], dtype=ids.dtype)

    def _begins_word(self, id_: int) -> bool:
        piece = self._pieces[id_]
        return id_ in self._special or piece.startswith(WORD_START) or not any(map(str.isalpha, piece))

    def _spellings(self, word: tuple[int, ...]) -> list[tuple[int, ...]]:
        if word not in self._cuts:
            self._cuts[word] = self._draw_spellings(word)
        return self._cuts[word]

    def _draw_spellings(self, word: tuple[int, ...]) -> list[tuple[int, ...]]:
        text = "".join(self._pieces[id_] for id_ in word)
        if any(id_ in self._special for id_ in word) or any(character not in self._ids for character in text):
            return [word]
        rng = random.Random(f"{self.seed}/{text}")
        return [tuple(self._ids[piece] for piece in self._split_word(text, rng)) for _ in range(CUTS)]

    def _split_word(self, text: str, rng: random.Random) -> Sequence[str]:
        pieces = list(text)
        while len(pieces) > 1:
            pairs = ((self._rank.get(pair), at) for at, pair in enumerate(pairwise(pieces)))
            known = [(rank, at) for rank, at in pairs if rank is not None and rng.random() >= self.rate]
            if not known:
                break
            _, at = min(known)
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        return pieces


@dataclass(frozen=True)
class Task:
    """The files and settings of a run.

    `data` and `more` are the folders of the sentence pairs and of additional tables, `state` the folder of the saved
    state, and `begin` that of the initial model. The run saves and scores every `every` steps, on `dev` dev pairs of
    each language. `watch` is a table of sentences to trace each time, into `recording.npz` in the state folder.
    """

    data: Path
    more: tuple[Path, ...]
    state: Path
    begin: Path | None
    device: str | None
    every: int
    dev: int
    watch: Path | None = None


def run(task: Task, recipe: Recipe, share: Share) -> None:
    """Train to the end of the recipe, resuming from the state folder if it holds a state.

    Raises ValueError or OSError that says what is wrong with a file or the recipe.
    """
    pairs, dev = language_pairs(task.data, recipe, "train"), language_pairs(task.data, recipe, "dev")
    tables = further_pairs(task.more, recipe)
    if not share.leads:
        share.wait()  # until the leader has written the tokenizer
    codec = _codec(task.state / "tokenizer.json", pairs, recipe)
    if share.leads:
        share.wait()
    trainer = _trainer(task, recipe, codec, share)
    corpora = _corpora(codec, recipe, pairs, tables)
    watch = None
    if task.watch and share.leads:
        lines = watched_lines(task.watch, recipe.languages, codec, _english(pairs, *tables.values()))
        watch = _watch(task, trainer, codec, dev, lines)
    quiet = not share.leads
    with tqdm(total=recipe.steps, initial=trainer.step, unit="step", dynamic_ncols=True, disable=quiet) as bar:

        def report(step: int, loss: float, rate: float) -> None:
            bar.update(step - bar.n)
            bar.set_postfix_str(f"loss {loss:.3f}, {rate:,.0f} tokens/s, epoch {trainer.epoch}")

        def keep() -> None:
            if share.leads:
                trainer.save(task.state / STATE)
                bar.write(_score_checkpoint(task, trainer, codec, dev, watch))
            share.wait()

        change = PieceDropout(codec, recipe.piece_dropout, seed=recipe.seed) if recipe.piece_dropout else None
        train(trainer, corpora, every=task.every, report=report, checkpoint=keep, change=change)


def language_pairs(folder: Path, recipe: Recipe, split: str) -> Pairs:
    """Read the pairs of one split for every language of the recipe. Raises ValueError if a language has no pairs."""
    pairs = {to: read_pairs(folder / f"en-{to}.{split}.tsv.gz") for to in recipe.languages}
    if missing := [to for to, of_language in pairs.items() if not of_language]:
        raise ValueError(f"en-{missing[0]}.{split}.tsv.gz holds no pairs: there is nothing to learn or to score with.")
    return pairs


def further_pairs(folders: Sequence[Path], recipe: Recipe) -> dict[str, Pairs]:
    """Read the additional tables of sentence pairs that the recipe names, for the languages of the recipe.

    Each table is read from the first folder that has it.
    """
    tables = {name: read_table(_first_file(folders, f"{name}.tsv")) for name in recipe.more}
    return {
        name: {to: pairs for to, pairs in table.items() if to in recipe.languages} for name, table in tables.items()
    }


def _first_file(folders: Sequence[Path], name: str) -> Path:
    return next((folder / name for folder in folders if (folder / name).is_file()), folders[0] / name)


def _trainer(task: Task, recipe: Recipe, codec: TranslatorTokenizer, share: Share) -> Trainer:
    """Return a trainer at the run's saved state, or with the weights of the initial model, or with random weights."""
    config = ModelConfig(
        codec.vocab_size, recipe.d_model, recipe.n_heads, recipe.n_layers, recipe.d_ff, pad_id=codec.pad_id
    )
    trainer, state = Trainer(recipe, config, choose_device(task.device), share), task.state / STATE
    if state.is_file():
        trainer.load(state)
    elif task.begin:
        trainer.begin_from(codec, checkpoint.load(task.begin), TranslatorTokenizer.load(task.begin / "tokenizer.json"))
    return trainer


def _corpora(codec: TranslatorTokenizer, recipe: Recipe, pairs: Pairs, tables: dict[str, Pairs]) -> list[Corpus]:
    corpora = [Corpus.encode(codec, pairs[to], to, repeat=times) for to, times in recipe.languages.items()]
    return corpora + [
        Corpus.encode(codec, of_language, to, repeat=recipe.more[name])
        for name, table in tables.items()
        for to, of_language in table.items()
    ]


def _english(*tables: Pairs) -> set[str]:
    return {english for table in tables for pairs in table.values() for english, _ in pairs}


def _watch(
    task: Task, trainer: Trainer, codec: TranslatorTokenizer, dev: Pairs, lines: tuple[WatchedLine, ...]
) -> TrainingWatch:
    """Return the `TrainingWatch` that adds a snapshot to the recording at each checkpoint; take the first one now."""
    held_out = [Corpus.encode(codec, pairs[: task.dev], to, repeat=1) for to, pairs in dev.items()]
    watch = TrainingWatch(task.state / RECORDING, lines, trainer.model.config, held_out)
    if trainer.step:
        watch.resume()
    if not watch.has(trainer.step):
        translator = _translator(trainer, codec)
        watch.look(translator, trainer.step, _scores(task, translator, dev))
    return watch


def _score_checkpoint(
    task: Task, trainer: Trainer, codec: TranslatorTokenizer, dev: Pairs, watch: TrainingWatch | None
) -> str:
    """Write the checkpoint, translate with it, record it, and log a line of scores."""
    translator, out = _translator(trainer, codec), task.state / "checkpoint"
    checkpoint.save(translator.model, out)
    codec.save(out / "tokenizer.json")
    scores = _scores(task, translator, dev)
    if watch is not None:
        watch.look(translator, trainer.step, scores)
    told = {to: asdict(of_language) for to, of_language in scores.items()}
    line = json.dumps({"step": trainer.step, "tokens": trainer.tokens_seen} | told)
    with (task.state / "scores.jsonl").open("a") as log:
        log.write(line + "\n")
    return line


def _translator(trainer: Trainer, codec: TranslatorTokenizer) -> Translator:
    return Translator(trainer.averaged_model(), codec, model_id=f"step-{trainer.step}")


def _scores(task: Task, translator: Translator, dev: Pairs) -> Mapping[str, Score]:
    return {to: score(translator, pairs[: task.dev], to) for to, pairs in dev.items()}


def _codec(path: Path, pairs: Pairs, recipe: Recipe) -> TranslatorTokenizer:
    if path.is_file():
        return TranslatorTokenizer.load(path)
    codec = build_codec(pairs, vocab_size=recipe.vocab_size)
    path.parent.mkdir(parents=True, exist_ok=True)
    codec.save(path)
    return codec
