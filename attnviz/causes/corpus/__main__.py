"""Compute a model's pruning curve: `python -m attnviz.causes.corpus --to fr --out curve.csv < sentences.tsv`.

Each input line is a sentence, optionally followed by a tab and its translation. Without translations, BLEU compares
with the translations that the unpruned model writes. The pruning orders are computed from the same sentences, or, more
fairly, from the sentences in `--orders-from` or, with `--halves`, from every second sentence. The file is written after
each order, so that a stopped run keeps its results. `--card` writes the curve beside a shipped model's weights instead
of to `--out`, and adds a table to the model card.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnviz.analysis.corpus.reading import ReadCorpus
    from attnviz.causes.corpus.numbers.pruning import PruningOrder
    from attnviz.models.protocol import Model

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # must be set before torch is imported


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Return exit status 2, after a one-sentence message on standard error, if the input is unusable.
    """
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except (ValueError, OSError) as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nattnviz: stopped; {options.out or 'the card'} has the orders that were done.", file=sys.stderr)
        return 130
    return 0


def _run(options: argparse.Namespace) -> None:
    from attnviz.analysis.corpus.lines import lines_of
    from attnviz.analysis.corpus.reading import read_corpus
    from attnviz.analysis.runs import head_places
    from attnviz.causes.corpus.numbers.pruning import CurvePlan, CurvePoint, curve_path, pruning_curve, write_card
    from attnviz.models import catalogue

    lines = lines_of(sys.stdin.read())
    model = catalogue.load(options.model) if options.model else catalogue.translator()
    out = curve_path(catalogue.SHIPPED / model.name, options.to) if options.card else options.out
    scored, others = (lines[::2], lines[1::2]) if options.halves else (lines, ())
    if options.orders_from:
        others = lines_of(options.orders_from.read_text(encoding="utf-8"))
    corpus = read_corpus(model, scored, to=options.to, stop=_progress("reading"))
    found_on = read_corpus(model, others, to=options.to, stop=_progress("reading the others")) if others else corpus
    plan = CurvePlan.in_steps(options.step, len(head_places(model)), with_bleu=not options.no_bleu)
    points: list[CurvePoint] = []
    for order in _orders(model, found_on, options):
        curve = pruning_curve(model, corpus, [order], plan, stop=_progress(order.name))
        points += curve.points
        found = replace(curve, points=tuple(points), orders_from=len(found_on.sentences), weights=model.model_id)
        found.table().to_csv(out, index=False)
    if options.card:
        write_card(out.parent, options.to)
    print(f"{out}: {len(points)} points on {len(corpus.sentences)} sentences")


def _orders(model: "Model", found_on: "ReadCorpus", options: argparse.Namespace) -> Iterator["PruningOrder"]:
    """Yield the pruning orders, the slowest to compute last."""
    from attnviz.analysis.runs import head_places
    from attnviz.causes.corpus.numbers import pruning
    from attnviz.causes.corpus.numbers.importance import ablation_importance, gradient_importance

    gradient = gradient_importance(model, found_on, stop=_progress("gradient"))
    yield pruning.order_by_importance(gradient)
    yield pruning.order_by_importance(gradient, most_first=True)
    yield pruning.order_by_importance(ablation_importance(model, found_on, stop=_progress("single ablations")))
    yield from pruning.random_orders(head_places(model))
    if not options.no_greedy:
        yield pruning.greedy(model, found_on, a_step=options.step, stop=_progress("a greedy step"))


def _progress(what: str):
    """Return a Cancellable that prints progress on standard error."""
    from attnviz.analysis.cancellable import Cancellable

    def tell(done: int, total: int) -> None:
        print(f"\r{what}: {done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return Cancellable(tell)


def _parser() -> argparse.ArgumentParser:
    assert __doc__ is not None
    parser = argparse.ArgumentParser("python -m attnviz.causes.corpus", description=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--to", default="", help="the language to write")
    parser.add_argument("--model", default="", help="a checkpoint (default: the shipped translator)")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--out", type=Path, help="a CSV file, one line per point")
    where.add_argument("--card", action="store_true", help="write the file of a shipped model, and its card")
    parser.add_argument("--halves", action="store_true", help="find the orders on every second sentence")
    parser.add_argument("--orders-from", type=Path, help="other sentences, on which the orders are found")
    parser.add_argument(
        "--step", type=int, default=4, choices=range(1, 73), metavar="N", help="heads removed per step (4)"
    )
    parser.add_argument("--no-greedy", action="store_true", help="leave out the greedy search, which takes longest")
    parser.add_argument("--no-bleu", action="store_true", help="leave out BLEU, and the writing that it needs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
