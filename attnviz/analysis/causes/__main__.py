"""`python -m attnviz.analysis.causes [language …]`: how well each way of aligning words does, in each language."""

import os
import sys
from collections.abc import Sequence

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch


def main(languages: Sequence[str]) -> int:
    """Print the table for the translator that comes along; the exit status is 2 for a language without alignments."""
    from attnviz.analysis.causes.alignment_errors import alignment_errors
    from attnviz.analysis.causes.gold import gold_languages, gold_pairs
    from attnviz.models.catalogue import translator

    try:
        pairs = {to: gold_pairs(to) for to in languages or gold_languages()}
    except ValueError as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2
    table = alignment_errors(translator(), pairs)
    print(table.to_string(index=False, float_format="{:.3f}".format).replace("<NA>", " all"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
