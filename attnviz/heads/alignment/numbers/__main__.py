"""`python -m attnviz.heads.alignment.numbers [--write] [language …]`: how well each way of aligning words does.

With `--write` the table goes to `assets/alignments/errors/`, where the Heads page finds it, maximum flow included: some
minutes.
"""

import os
import sys
from collections.abc import Sequence

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch


def main(asked: Sequence[str]) -> int:
    """Print the table for the translator that comes along; the exit status is 2 for a language without alignments."""
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
