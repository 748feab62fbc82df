"""`python -m attnviz.training.pairs.grammar --out agreement.tsv`: sentences of a small grammar, a table to train on.

Agreement is what a small translator gets wrong: *ein großer rote Hund*, *parce qu'elle était trop fatigué*. Here every
article, ending and pronoun follows from its noun. Sentences of `--without` are left out: those that judge the model.
"""

import argparse
import random
import sys
from pathlib import Path

from attnviz.training.pairs.grammar.sentences import KINDS, Row


def drawn(seed: int, without: frozenset[str]) -> list[Row]:
    """So many rows of each kind, by the seed; no English sentence twice, and none of `without`."""
    rows: list[Row] = []
    for kind, count in KINDS.items():
        known = {row[0] for row in rows} | without
        every = {row[0]: row for row in kind() if row[0] not in known}
        rows += random.Random(f"{seed}/{kind.__name__}").sample(list(every.values()), min(count, len(every)))
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Write the table; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        without = {line for path in options.without for line in path.read_text(encoding="utf-8").splitlines()}
        rows = [("en", "fr", "de", "es", "zh"), *drawn(options.seed, frozenset(without))]
        options.out.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    except OSError as error:
        print(f"attnviz.training.pairs.grammar: {error}", file=sys.stderr)
        return 2
    print(f"{len(rows) - 1:,} sentences in {options.out.name}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m attnviz.training.pairs.grammar", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the table to write: a .tsv")
    parser.add_argument(
        "--without", type=Path, nargs="*", default=[], help="files of sentences to leave out, one a line"
    )
    parser.add_argument("--seed", type=int, default=1, help="which sentences are drawn")
    return parser


if __name__ == "__main__":
    sys.exit(main())
