"""`python -m tools.pairs.mixed`: a folder to train on, of people's sentence pairs and of a model's own.

Of people's pairs a share is taken, or all of them several times; a model's own, which
`tools.pairs.distillation` writes, come several times. The dev split is copied as it is.
"""

import argparse
import json
import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from attnviz.training.averaging import run
from attnviz.training.corpus import Pair, read_pairs, write_pairs


def mix(real: Sequence[Pair], own: Sequence[Pair], *, share: float, times: int, seed: str) -> list[Pair]:
    """Draw `share` of the real pairs by the seed, or repeat all of them if it is a whole number, and repeat the
    model's own `times` over.
    """
    if share < 1:
        return [*random.Random(seed).sample(real, round(share * len(real))), *list(own) * times]
    return [*list(real) * int(share), *list(own) * times]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the folder; return the exit status."""
    return run(_parser(), _write, arguments)


def _write(options: argparse.Namespace) -> str:
    told = []
    for to, share in _shares(options.share).items():
        real, own = (
            read_pairs(path) for path in (options.data / f"en-{to}.train.tsv.gz", options.own / f"en-{to}.tsv.gz")
        )
        pairs = mix(real, own, share=share, times=options.times, seed=f"{options.seed}/{to}")
        write_pairs(options.out / f"en-{to}.train.tsv.gz", pairs)
        shutil.copyfile(options.data / f"en-{to}.dev.tsv.gz", options.out / f"en-{to}.dev.tsv.gz")
        told.append(
            f"{to}: {len(pairs) - len(own) * options.times:,} of people, {len(own):,} of a model, {options.times}x"
        )
    return "\n".join(told)


def _shares(text: str) -> dict[str, float]:
    try:
        shares = json.loads(text)
    except ValueError:
        shares = None
    if isinstance(shares, dict) and all(map(_is_share, shares.values())):
        return shares
    raise ValueError(f'--share maps a language to a part or a whole number: {{"fr": 0.6, "zh": 3}}, not {text}.')


def _is_share(number: object) -> bool:
    return isinstance(number, (int, float)) and (0 <= number < 1 or number == round(number) > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.pairs.mixed", description=__doc__)
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
