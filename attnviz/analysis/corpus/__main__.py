"""`python -m attnviz.analysis.corpus --to fr --out curve.csv < sentences.tsv`: the pruning curve of a model on a list.

A sentence a line, and after a tab its translation; without translations BLEU compares with what the model itself
writes with every head in place. Orders are found on the same sentences, or on those of `--orders-from`, which is
fairer. The file is written again after each order, so that a run that is stopped has left what it found.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch


def main(arguments: list[str] | None = None) -> int:
    """Run it; the exit status is 2 for unusable input, with one sentence on standard error."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except (ValueError, OSError) as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nattnviz: stopped; {options.out} has the orders that were done.", file=sys.stderr)
        return 130
    return 0


def _run(options: argparse.Namespace) -> None:
    from attnviz.analysis.causes.runs import head_places
    from attnviz.analysis.corpus import orders
    from attnviz.analysis.corpus.importance import ablation_importance, gradient_importance
    from attnviz.analysis.corpus.lines import lines_of
    from attnviz.analysis.corpus.pruning import CurvePlan, PruningCurve, pruning_curve
    from attnviz.analysis.corpus.reading import read_corpus
    from attnviz.models import catalogue

    lines = lines_of(sys.stdin.read())
    model = catalogue.load(options.model) if options.model else catalogue.translator()
    corpus = read_corpus(model, lines, to=options.to, stop=_told("reading"))
    found_on = corpus
    if options.orders_from:
        others = lines_of(options.orders_from.read_text(encoding="utf-8"))
        found_on = read_corpus(model, others, to=options.to, stop=_told("reading the others"))
    places, points = head_places(model), []
    plan = CurvePlan.every(options.step, len(places), with_bleu=not options.no_bleu)

    def score(order: orders.PruningOrder) -> None:
        curve = pruning_curve(model, corpus, [order], plan, stop=_told(order.name))
        points.extend(curve.points)
        PruningCurve(tuple(points), curve.sentences, curve.references).table().to_csv(options.out, index=False)

    gradient = gradient_importance(model, found_on, stop=_told("gradient"))
    score(orders.by_importance(gradient))
    score(orders.by_importance(gradient, most_first=True))
    score(orders.by_importance(ablation_importance(model, found_on, stop=_told("single ablations"))))
    if not options.no_greedy:
        score(orders.greedy(model, found_on, a_step=options.step, stop=_told("a greedy step")))
    for order in orders.by_lot(places):
        score(order)
    against = (
        "" if options.no_bleu else f"; BLEU against {'given' if corpus.has_references else 'its own'} translations"
    )
    print(f"{options.out}: {len(points)} points on {len(corpus.sentences)} sentences{against}")


def _told(what: str):
    """Progress on standard error."""
    from attnviz.analysis.corpus.stoppable import Stoppable

    def tell(done: int, total: int) -> None:
        print(f"\r{what}: {done} of {total}", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return Stoppable(tell)


def _parser() -> argparse.ArgumentParser:
    assert __doc__ is not None
    parser = argparse.ArgumentParser("python -m attnviz.analysis.corpus", description=__doc__.split("\n\n", 1)[1])
    parser.add_argument("--to", default="", help="the language to write")
    parser.add_argument("--model", default="", help="a checkpoint; left out, the translator that comes along")
    parser.add_argument("--out", type=Path, required=True, help="a CSV file, a line a point")
    parser.add_argument("--orders-from", type=Path, help="other sentences, on which the orders are found")
    parser.add_argument("--step", type=int, default=4, choices=range(1, 73), metavar="N", help="heads at a time (4)")
    parser.add_argument("--no-greedy", action="store_true", help="leave out the greedy search, which takes longest")
    parser.add_argument("--no-bleu", action="store_true", help="leave out BLEU, and the writing that it needs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
