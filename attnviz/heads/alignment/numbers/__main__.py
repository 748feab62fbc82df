"""Measure how well each method aligns words: `python -m attnviz.heads.alignment.numbers [--write] [language …]`.

With `--write`, write the table to `assets/alignments/errors/`, from which the page Heads reads it. The maximum flow
makes this take some minutes.
"""

import os
import sys
from collections.abc import Sequence

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # must be set before torch is imported


def main(asked: Sequence[str]) -> int:
    """Print the table for the shipped translator.

    Return exit status 2 for a language without alignments made by hand.
    """
    from attnviz.heads.alignment.numbers.alignment_errors import alignment_errors, write_errors
    from attnviz.heads.alignment.numbers.gold import gold_languages, gold_pairs
    from attnviz.models.catalogue import translator

    is_written = "--write" in asked
    languages = [word for word in asked if word != "--write"]
    try:
        pairs = {to: gold_pairs(to) for to in languages or gold_languages()}
    except ValueError as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    model = translator(device="cpu", dtype="float32")
    table = alignment_errors(model, pairs, with_flow=is_written)
    print(table.to_string(index=False, float_format="{:.3f}".format).replace("<NA>", " all"))
    if is_written:
        write_errors(table, model.model_id)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
