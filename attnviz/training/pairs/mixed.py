"""`python -m attnviz.training.pairs.mixed`: a folder to train on, of people's sentence pairs and of a model's own.

Of people's pairs a share is taken, or all of them several times; a model's own, which
`attnviz.training.pairs.distillation` writes, come several times. The dev split is copied as it is.
"""

import argparse
import gzip
import json
import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


def mixed(real: Sequence[str], own: Sequence[str], *, share: float, times: int, seed: str) -> list[str]:
    """Lines of a training file: `share` of the real ones, drawn by the seed, or all of them that often where it is 1 or
    more; then the model's own, `times` over.
    """
    if share < 1:
        return [*random.Random(seed).sample(list(real), round(share * len(real))), *list(own) * times]
    return [*list(real) * round(share), *list(own) * times]


def main(arguments: list[str] | None = None) -> int:
    """Write the folder; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        _write(options)
    except (ValueError, OSError, EOFError) as error:
        print(f"attnviz.training.pairs.mixed: {error}", file=sys.stderr)
        return 2
    return 0


def _write(options: argparse.Namespace) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    for to, share in json.loads(options.share).items():
        real, own = (_lines(path) for path in (options.data / f"en-{to}.train.tsv.gz", options.own / f"en-{to}.tsv.gz"))
        lines = mixed(real, own, share=share, times=options.times, seed=f"{options.seed}/{to}")
        with gzip.open(options.out / f"en-{to}.train.tsv.gz", "wt", encoding="utf-8") as out:
            out.writelines(lines)
        shutil.copyfile(options.data / f"en-{to}.dev.tsv.gz", options.out / f"en-{to}.dev.tsv.gz")
        print(f"{to}: {len(lines) - len(own) * options.times:,} of people, {len(own):,} of a model, {options.times}x")


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return lines.readlines()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m attnviz.training.pairs.mixed", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with en-XX.train.tsv.gz and en-XX.dev.tsv.gz")
    parser.add_argument("--own", type=Path, required=True, help="folder with a model's pairs, en-XX.tsv.gz")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--share", default='{"fr": 1, "de": 1, "es": 1, "zh": 1}',
        help='how much of people\'s pairs, as JSON: {"fr": 0.6} a share, {"zh": 3} all of them three times',
    )  # fmt: skip
    parser.add_argument("--times", type=int, default=3, help="how often the model's own come")
    parser.add_argument("--seed", type=int, default=1, help="which pairs are drawn")
    return parser


if __name__ == "__main__":
    sys.exit(main())
