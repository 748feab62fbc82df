"""`python -m attnviz.analysis.causes.usual [language …]`: how much each head usually does, of the shipped translator.

Over the shipped sentences of each language; the file beside its weights is written anew, for all of its languages where
none is named.
"""

import os
import sys
from collections.abc import Sequence

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch


def main(languages: Sequence[str]) -> int:
    """Measure and write; the exit status is 2 for a language that the translator lacks."""
    from attnviz.analysis.causes.usual.spreads import NAME, measured_usual, write
    from attnviz.analysis.corpus.shipped import shipped_lines
    from attnviz.models import catalogue

    model = catalogue.translator()
    if unknown := [to for to in languages if to not in model.languages]:
        print(f"attnviz: this model writes {', '.join(model.languages)}, not {unknown[0]}", file=sys.stderr)
        return 2
    found = {}
    for to in languages or model.languages:
        texts = [line.text for line in shipped_lines(to)]
        found[to] = measured_usual(model, texts, to)
        print(f"{to}: {len(texts)} sentences, the largest mean effect {float(found[to].mean.min()):.4f} nats a token")
    write(catalogue.SHIPPED / catalogue.DEFAULT / NAME, model.model_id, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
