"""The included lists of sentences, held out from the translator's training, each with its translation."""

from attnviz.analysis.corpus.lines import CorpusLine, lines_of
from attnviz.places import ASSETS

FOLDER = ASSETS / "sentences"
_ANY = "fr"  # its English sentences are used for models of other languages


def languages() -> tuple[str, ...]:
    """Return the languages for which the package includes sentences with translations."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.tsv")))


def shipped_lines(to: str = "") -> tuple[CorpusLine, ...]:
    """Return the 200 lines of a language; for other languages and for "", English sentences without targets."""
    has_targets = to in languages()
    text = (FOLDER / f"{to if has_targets else _ANY}.tsv").read_text(encoding="utf-8")
    lines = lines_of(text.removesuffix("\n"))
    return lines if has_targets else tuple(CorpusLine(line.text, number=line.number) for line in lines)
