"""`python -m attnviz.training --data FOLDER`: sentence pairs to a checkpoint, resumable at any moment."""

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
from attnviz.training.corpus import Corpus, Pair, read_pairs
from attnviz.training.evaluation import score
from attnviz.training.recipe import Recipe
from attnviz.training.trainer import Trainer, train
from attnviz.training.vocabulary import build_codec
from attnviz.transformer import checkpoint
from attnviz.transformer.config import ModelConfig


def main(arguments: list[str] | None = None) -> int:
    """Train, or go on training; returns the exit status."""
    options = _parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    recipe = replace(Recipe(), **json.loads(options.recipe))
    try:
        pairs = {to: read_pairs(options.data / f"en-{to}.train.tsv.gz") for to in recipe.languages}
        dev = {to: read_pairs(options.data / f"en-{to}.dev.tsv.gz") for to in recipe.languages}
        _run(options, recipe, pairs, dev)
    except (ValueError, OSError) as error:
        print(f"attnviz.training: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted; the same command goes on from the last saved state.", file=sys.stderr)
        return 130
    return 0


def _run(options: argparse.Namespace, recipe: Recipe, pairs: dict[str, list[Pair]], dev: dict[str, list[Pair]]) -> None:
    state, out = options.state / "state.pt", options.state / "checkpoint"
    codec = _codec(options.state / "tokenizer.json", pairs, recipe)
    config = ModelConfig(
        codec.vocab_size, recipe.d_model, recipe.n_heads, recipe.n_layers, recipe.d_ff, pad_id=codec.pad_id
    )
    trainer = Trainer(recipe, config, torch.device(options.device))
    if state.is_file():
        trainer.load(state)
    corpora = [Corpus.encode(codec, pairs[to], to, repeat=times) for to, times in recipe.languages.items()]
    bar = tqdm(total=recipe.steps, initial=trainer.step, unit="step", dynamic_ncols=True)

    def report(step: int, loss: float, rate: float) -> None:
        bar.update(step - bar.n)
        bar.set_postfix_str(f"loss {loss:.3f}, {rate:,.0f} tokens/s, epoch {trainer.epoch}")

    def keep() -> None:
        trainer.save(state)
        model = trainer.averaged()
        checkpoint.save(model, out)
        codec.save(out / "tokenizer.json")
        translator = Translator(model, codec, model_id=f"step-{trainer.step}")
        scores = {to: score(translator, dev[to][: options.dev], to) for to in dev}
        line = {"step": trainer.step, "tokens": trainer.tokens_seen} | {to: asdict(s) for to, s in scores.items()}
        bar.write(json.dumps(line))
        with (options.state / "scores.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")

    train(trainer, corpora, every=options.every, report=report, checkpoint=keep)


def _codec(path: Path, pairs: dict[str, list[Pair]], recipe: Recipe) -> TextCodec:
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
    parser.add_argument("--recipe", default="{}", help='changes to the recipe, as JSON: \'{"steps": 20000}\'')
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--every", type=int, default=1000, help="save and score every so many steps")
    parser.add_argument("--dev", type=int, default=400, help="how many dev pairs a language to score as it goes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
