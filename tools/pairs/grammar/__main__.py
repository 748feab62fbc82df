"""`python -m tools.pairs.grammar --out agreement.tsv`: sentences of a small grammar, a table to train on.

A small translator makes mistakes of agreement: *ein großer rote Hund*, *parce qu'elle était trop fatigué*. Here every
article, ending and pronoun follows from its noun. Sentences of `--without`, which evaluate the model, are left out.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from attnviz.training.averaging import run
from tools.pairs.grammar.of_animals import jumps, reasons, rests
from tools.pairs.grammar.of_people import deadlines, gifts, orders, weathers
from tools.pairs.grammar.of_things import comparisons, there_are
from tools.pairs.grammar.phrases import Row

KINDS = {  # each kind of sentence, and the number of rows to draw of it
    jumps: 400, rests: 200, reasons: 1000, there_are: 250, orders: 200, comparisons: 150, deadlines: 150, gifts: 200,
    weathers: 60,
}  # fmt: skip


def draw(seed: int, without: frozenset[str]) -> list[Row]:
    """Draw rows of each kind by the seed; no English sentence twice, and none of `without`."""
    rows: list[Row] = []
    for kind, count in KINDS.items():
        known = {row[0] for row in rows} | without
        every = {row[0]: row for row in kind() if row[0] not in known}
        rows += random.Random(f"{seed}/{kind.__name__}").sample(list(every.values()), min(count, len(every)))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table; return the exit status."""
    return run(_parser(), _write, arguments)


def _write(options: argparse.Namespace) -> str:
    without = {line for path in options.without for line in path.read_text(encoding="utf-8").splitlines()}
    rows = draw(options.seed, frozenset(without))
    lines = ["\t".join(row) for row in (("en", "fr", "de", "es", "zh"), *rows)]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"{len(rows):,} sentences in {options.out.name}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.pairs.grammar", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the table to write: a .tsv")
    parser.add_argument(
        "--without", type=Path, nargs="*", default=[], help="files of sentences to leave out, one a line"
    )
    parser.add_argument("--seed", type=int, default=1, help="which sentences are draw")
    return parser


if __name__ == "__main__":
    sys.exit(main())
