"""Find out from which of twelve sentences a model takes its answer: `python -m attnviz.spans MODEL`.

MODEL is a folder, a GGUF file or a hub id of a decoder that writes text. `--all` uses every needle and not only the
first one; `--out` writes the table as CSV.
"""

import argparse
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Return exit status 2, after a one-sentence message on standard error, if the input is unusable.
    """
    parser = argparse.ArgumentParser(prog="python -m attnviz.spans", description=__doc__)
    parser.add_argument("model", help="a folder, a GGUF file or a hub id")
    parser.add_argument("--all", action="store_true", help="each needle, not the first alone")
    parser.add_argument("--out", type=Path, help="write the table to this file")
    options = parser.parse_args(arguments)
    try:
        _run(options)
    except (ValueError, OSError) as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    return 0


def _run(options: argparse.Namespace) -> None:
    from attnviz.analysis.cancellable import Cancellable
    from attnviz.models import catalogue
    from attnviz.spans.numbers.needle import NEEDLES, count_needles

    def tell(done: int, total: int) -> None:
        print(f"\r{done} of {total} passes", end="\n" if done == total else "", file=sys.stderr, flush=True)

    counted = count_needles(
        catalogue.load(options.model), NEEDLES if options.all else NEEDLES[:1], work=Cancellable(tell)
    )
    print(counted.table.round(3).to_string(index=False))
    print(counted.sentence())
    if options.out:
        counted.table.to_csv(options.out, index=False)


if __name__ == "__main__":
    sys.exit(main())
