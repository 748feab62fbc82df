"""One training run, from pairs on disk to a checkpoint, a line of scores and a state to go on from."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tqdm import tqdm

from attnviz.models.translator.translator import Translator
from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.training.corpus import Corpus, Pair, read_pairs, read_table
from attnviz.training.evaluation import score
from attnviz.training.piece_dropout import PieceDropout
from attnviz.training.recipe import Recipe
from attnviz.training.trainer import Trainer, train
from attnviz.training.vocabulary import build_codec
from attnviz.training.workers import Share
from attnviz.transformer import checkpoint
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.device import choose_device

Pairs = dict[str, list[Pair]]


@dataclass(frozen=True)
class Task:
    """Where a run reads and writes: folders of the pairs, of the further tables, of its own state and of the model that
    it begins with; the device; and how often it saves and scores, on how many dev pairs a language.
    """

    data: Path
    more: Path
    state: Path
    begin: Path | None
    device: str | None
    every: int
    dev: int


def run(task: Task, recipe: Recipe, share: Share) -> None:
    """Train to the recipe's end, going on from the state folder where it holds something.

    Raises ValueError or OSError with what is wrong with a file or the recipe.
    """
    pairs, dev = language_pairs(task.data, recipe, "train"), language_pairs(task.data, recipe, "dev")
    tables = further_pairs(task.more, recipe)
    state = task.state / "state.pt"
    if not share.leads:
        share.wait()  # for the tokenizer
    codec = _codec(task.state / "tokenizer.json", pairs, recipe)
    if share.leads:
        share.wait()
    config = ModelConfig(
        codec.vocab_size, recipe.d_model, recipe.n_heads, recipe.n_layers, recipe.d_ff, pad_id=codec.pad_id
    )
    trainer = Trainer(recipe, config, choose_device(task.device), share)
    if state.is_file():
        trainer.load(state)
    elif task.begin:
        trainer.begin_from(codec, checkpoint.load(task.begin), TranslatorTokenizer.load(task.begin / "tokenizer.json"))
    corpora = [Corpus.encode(codec, pairs[to], to, repeat=times) for to, times in recipe.languages.items()]
    corpora += [
        Corpus.encode(codec, of_language, to, repeat=recipe.more[name])
        for name, table in tables.items()
        for to, of_language in table.items()
    ]
    quiet = not share.leads
    with tqdm(total=recipe.steps, initial=trainer.step, unit="step", dynamic_ncols=True, disable=quiet) as bar:

        def report(step: int, loss: float, rate: float) -> None:
            bar.update(step - bar.n)
            bar.set_postfix_str(f"loss {loss:.3f}, {rate:,.0f} tokens/s, epoch {trainer.epoch}")

        def keep() -> None:
            if share.leads:
                trainer.save(state)
                bar.write(_score(task, trainer, codec, dev))
            share.wait()

        change = PieceDropout(codec, recipe.piece_dropout, seed=recipe.seed) if recipe.piece_dropout else None
        train(trainer, corpora, every=task.every, report=report, checkpoint=keep, change=change)


def language_pairs(folder: Path, recipe: Recipe, split: str) -> Pairs:
    """The pairs of every language that the recipe trains, of one split. Raises ValueError where there are none."""
    pairs = {to: read_pairs(folder / f"en-{to}.{split}.tsv.gz") for to in recipe.languages}
    if missing := [to for to, of_language in pairs.items() if not of_language]:
        raise ValueError(f"en-{missing[0]}.{split}.tsv.gz holds no pairs: there is nothing to learn or to score with.")
    return pairs


def further_pairs(folder: Path, recipe: Recipe) -> dict[str, Pairs]:
    """The recipe's further tables by name, each with the pairs of the languages that the recipe trains."""
    tables = {name: read_table(folder / f"{name}.tsv") for name in recipe.more}
    return {
        name: {to: pairs for to, pairs in table.items() if to in recipe.languages} for name, table in tables.items()
    }


def _score(task: Task, trainer: Trainer, codec: TranslatorTokenizer, dev: Pairs) -> str:
    """Write the checkpoint, translate with it, and log a line of scores."""
    model, out = trainer.averaged(), task.state / "checkpoint"
    checkpoint.save(model, out)
    codec.save(out / "tokenizer.json")
    translator = Translator(model, codec, model_id=f"step-{trainer.step}")
    scores = {to: asdict(score(translator, pairs[: task.dev], to)) for to, pairs in dev.items()}
    line = json.dumps({"step": trainer.step, "tokens": trainer.tokens_seen} | scores)
    with (task.state / "scores.jsonl").open("a") as log:
        log.write(line + "\n")
    return line


def _codec(path: Path, pairs: Pairs, recipe: Recipe) -> TranslatorTokenizer:
    if path.is_file():
        return TranslatorTokenizer.load(path)
    codec = build_codec(pairs, vocab_size=recipe.vocab_size)
    path.parent.mkdir(parents=True, exist_ok=True)
    codec.save(path)
    return codec
