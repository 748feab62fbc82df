"""`python -m attnviz.training --data FOLDER`: sentence pairs to a checkpoint, resumable at any moment.

With `--card FILE`, write the model card of what has been trained so far instead of training on; with `--ship FOLDER`,
write the card, the weights and the tokenizer as a model of the catalogue.
"""

import argparse
import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path

import torch
from tqdm import tqdm

from attnviz.models.translator import Translator
from attnviz.text.codec import TextCodec
from attnviz.training.card import Demo, TrainedModel, card, read_marks
from attnviz.training.corpus import Corpus, Pair, read_pairs
from attnviz.training.evaluation import score
from attnviz.training.piece_dropout import PieceDropout
from attnviz.training.recipe import Recipe
from attnviz.training.shipping import About, ship
from attnviz.training.state import read_state
from attnviz.training.trainer import Trainer, train
from attnviz.training.vocabulary import build_codec
from attnviz.transformer import checkpoint
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.device import choose_device

Pairs = dict[str, list[Pair]]


def main(arguments: list[str] | None = None) -> int:
    """Train, go on training, or write the card; returns the exit status."""
    options = _parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    try:
        if options.card or options.ship:
            _card(options)
        else:
            _train(options, _recipe(options))
    except (ValueError, OSError, EOFError) as error:  # a gzip file that was cut short ends in EOFError
        print(f"attnviz.training: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted; the same command goes on from the last saved state.", file=sys.stderr)
        return 130
    return 0


def _train(options: argparse.Namespace, recipe: Recipe) -> None:
    pairs, dev = _pairs(options.data, recipe, "train"), _pairs(options.data, recipe, "dev")
    state = options.state / "state.pt"
    codec = _codec(options.state / "tokenizer.json", pairs, recipe)
    config = ModelConfig(
        codec.vocab_size, recipe.d_model, recipe.n_heads, recipe.n_layers, recipe.d_ff, pad_id=codec.pad_id
    )
    trainer = Trainer(recipe, config, choose_device(options.device))
    if state.is_file():
        trainer.load(state)
    elif options.begin:
        trainer.begin_from(codec, checkpoint.load(options.begin), TextCodec.load(options.begin / "tokenizer.json"))
    corpora = [Corpus.encode(codec, pairs[to], to, repeat=times) for to, times in recipe.languages.items()]
    with tqdm(total=recipe.steps, initial=trainer.step, unit="step", dynamic_ncols=True) as bar:

        def report(step: int, loss: float, rate: float) -> None:
            bar.update(step - bar.n)
            bar.set_postfix_str(f"loss {loss:.3f}, {rate:,.0f} tokens/s, epoch {trainer.epoch}")

        def keep() -> None:
            trainer.save(state)
            bar.write(_score(options, trainer, codec, dev))

        change = PieceDropout(codec, recipe.piece_dropout, seed=recipe.seed) if recipe.piece_dropout else None
        train(trainer, corpora, every=options.every, report=report, checkpoint=keep, change=change)


def _score(options: argparse.Namespace, trainer: Trainer, codec: TextCodec, dev: Pairs) -> str:
    """Write the checkpoint, translate with it, and log a line of scores."""
    model, out = trainer.averaged(), options.state / "checkpoint"
    checkpoint.save(model, out)
    codec.save(out / "tokenizer.json")
    translator = Translator(model, codec, model_id=f"step-{trainer.step}")
    scores = {to: asdict(score(translator, pairs[: options.dev], to)) for to, pairs in dev.items()}
    line = json.dumps({"step": trainer.step, "tokens": trainer.tokens_seen} | scores)
    with (options.state / "scores.jsonl").open("a") as log:
        log.write(line + "\n")
    return line


def _card(options: argparse.Namespace) -> None:
    """Translate and score with the checkpoint of the state folder, and write what came out."""
    recipe, place = read_state(options.state / "state.pt")
    device = choose_device(options.device)
    translator = Translator.load(options.state / "checkpoint", device=device, dtype=torch.float32)
    sentences = tuple(options.demo.read_text(encoding="utf-8").splitlines()) if options.demo else ()
    translations = {to: translator.translate(sentences, to=to) for to in recipe.languages}
    marks = read_marks(options.marks, sentences)
    scores = {to: score(translator, pairs, to) for to, pairs in _pairs(options.data, recipe, "dev").items()}
    pairs = {to: len(pairs) for to, pairs in _pairs(options.data, recipe, "train").items()}
    model = TrainedModel(
        options.name, translator.n_parameters, recipe, place.step, place.tokens_seen, pairs, options.note
    )
    text = card(model, scores, Demo(sentences, translations, marks))
    if options.card:
        options.card.write_text(text, encoding="utf-8")
    if options.ship:
        about = About(options.title, options.start)
        ship(translator, options.state / "checkpoint", options.ship, about=about, card=text)


def _recipe(options: argparse.Namespace) -> Recipe:
    try:
        return replace(Recipe(begin=options.begin.name if options.begin else ""), **json.loads(options.recipe))
    except (ValueError, TypeError) as error:
        raise ValueError(f"--recipe must be a JSON object of the recipe's names and values ({error}).") from error


def _pairs(folder: Path, recipe: Recipe, split: str) -> Pairs:
    return {to: read_pairs(folder / f"en-{to}.{split}.tsv.gz") for to in recipe.languages}


def _codec(path: Path, pairs: Pairs, recipe: Recipe) -> TextCodec:
    if path.is_file():
        return TextCodec.load(path)
    codec = build_codec(pairs, vocab_size=recipe.vocab_size)
    path.parent.mkdir(parents=True, exist_ok=True)
    codec.save(path)
    return codec


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m attnviz.training", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with en-XX.train.tsv.gz and en-XX.dev.tsv.gz")
    parser.add_argument("--state", type=Path, default=Path(".state/translator"), help="where the run keeps itself")
    parser.add_argument("--recipe", default="{}", help="changes to the recipe, as JSON: '{\"steps\": 20000}'")
    parser.add_argument("--begin", type=Path, help="folder of a trained model whose weights a new run begins with")
    parser.add_argument("--device", help="cpu, cuda or mps; left out: ATTNVIZ_DEVICE, or the best there is")
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--every", type=int, default=1000, help="save and score every so many steps")
    parser.add_argument("--dev", type=int, default=400, help="how many dev pairs a language to score as it goes")
    group = parser.add_argument_group("model card and catalogue")
    group.add_argument("--card", type=Path, help="write the model card here, with scores on all dev pairs")
    group.add_argument("--name", default="translator-en-de-es-fr-zh", help="what the card calls the model")
    group.add_argument("--note", default="", help="a sentence about the recipe: what was changed on the way")
    group.add_argument("--ship", type=Path, help="write a model of the catalogue here, its card included")
    group.add_argument("--title", default="translator en→de·es·fr·zh", help="what the model picker calls it")
    group.add_argument("--start", default="cross.0.0", help="the head that is shown first: kind.layer.head")
    group.add_argument("--demo", type=Path, help="sentences to translate in the card, one a line")
    group.add_argument("--marks", type=Path, help='wrong ones, as JSON: {"fr": {"I love you.": "what is wrong"}, …}')
    return parser


if __name__ == "__main__":
    sys.exit(main())
