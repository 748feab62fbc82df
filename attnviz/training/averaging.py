"""`python -m attnviz.training.averaging`: average the weights of several models that started from the same weights.

What one model forgot during training, another may have kept: the average is often better than each of the models, and
takes no longer to run (Wortsman et al. 2022).
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from attnviz.transformer import checkpoint
from attnviz.transformer.transformer import Transformer


@torch.no_grad()
def average(models: Sequence[Transformer], weights: Sequence[float]) -> Transformer:
    """Set the first model's parameters to the weighted mean of all models' parameters, and return that model.

    Raises ValueError if the models' sizes differ, if a weight is below zero, or if no weight is above zero.
    """
    if min(weights) < 0 or sum(weights) == 0:
        raise ValueError(f"The weights of an average are positive numbers, not {', '.join(map(str, weights))}.")
    first = models[0]
    if other := next((model.config for model in models if model.config != first.config), None):
        raise ValueError(f"Only models of the same sizes can be averaged: {first.config} is not {other}.")
    states = [model.state_dict() for model in models]
    shares = [weight / sum(weights) for weight in weights]
    mean = {
        name: torch.stack([share * state[name].double() for share, state in zip(shares, states, strict=True)]).sum(0)
        for name in states[0]
    }
    first.load_state_dict(mean)
    return first


def main(arguments: Sequence[str] | None = None) -> int:
    """Average the models and write the result into a folder; return the exit status."""
    return run(_parser(), _write_average, arguments)


def _write_average(options: argparse.Namespace) -> str:
    folders, weights = [Path(folder) for folder, _ in options.part], [float(weight) for _, weight in options.part]
    tokenizers = {(folder / "tokenizer.json").read_bytes() for folder in folders}
    if len(tokenizers) > 1:
        raise ValueError(
            "Only models with the same tokenizer can be averaged, because the rows of their embeddings must match."
        )
    model = average([checkpoint.load(folder) for folder in folders], weights)
    checkpoint.save(model, options.out)
    shutil.copyfile(folders[0] / "tokenizer.json", options.out / "tokenizer.json")
    return " + ".join(f"{weight:g} x {folder.name}" for folder, weight in zip(folders, weights, strict=True))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m attnviz.training.averaging", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--part", nargs=2, action="append", required=True, metavar=("FOLDER", "WEIGHT"),
        help="a trained model and its weight in the average; give it once for each model",
    )  # fmt: skip
    return parser


if __name__ == "__main__":
    sys.exit(main())


def run(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], str], arguments: Sequence[str] | None
) -> int:
    """Parse the arguments, call `work`, and print the text that it returns; the exit status is 2 for unusable input."""
    try:
        sys.stdout.write(f"{work(parser.parse_args(arguments))}\n")
    except (ValueError, OSError, EOFError) as error:  # EOFError: a truncated gzip file
        sys.stderr.write(f"{parser.prog.removeprefix('python -m ')}: {error}\n")
        return 2
    return 0
