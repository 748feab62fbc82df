"""Measure each head of the shipped translator over the shipped sentences: `python -m attnviz.causes.numbers [fr …]`.

For each language, write the usual size of each head's effect and its mean context to two files beside the weights.
Without arguments, measure all languages of the translator.
"""

import os
import sys
from collections.abc import Sequence

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # must be set before torch is imported


def main(languages: Sequence[str]) -> int:
    """Measure and write the files. Return exit status 2 for a language that the translator lacks."""
    from attnviz.analysis import means
    from attnviz.analysis.corpus.lines import shipped_lines
    from attnviz.causes.numbers import effects
    from attnviz.models import catalogue

    model = catalogue.translator()
    if unknown := [to for to in languages if to not in model.languages]:
        print(f"attnviz: this model writes {', '.join(model.languages)}, not {unknown[0]}", file=sys.stderr)
        return 2
    folder = catalogue.SHIPPED / catalogue.DEFAULT
    asked = languages or model.languages
    means.write(folder / means.NAME, model.model_id, {to: means.measured_means(model, to) for to in asked})
    found = {}
    for to in asked:
        texts = [line.text for line in shipped_lines(to)]
        found[to] = effects.measured_usual(model, texts, to)
        print(f"{to}: {len(texts)} sentences, the largest mean effect {float(found[to].mean.min()):.4f} nats a token")
    effects.write(folder / effects.NAME, model.model_id, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
