"""The difference between two texts, word by word."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from attnviz.text.display import display

Run = tuple[str, bool]  # a piece of a text, and whether the other text differs there

# Spaces; characters of scripts that are written without spaces; other words.
_PARTS = re.compile(r"\s+|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]+")


def word_differences(one: str, other: str) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """Split two texts into runs that are equal or differ; each text's runs, joined, are that text again."""
    here, there = _PARTS.findall(one), _PARTS.findall(other)
    if here == there:
        return _runs([(one, False)]), _runs([(other, False)])
    left, right = list[Run](), list[Run]()
    for what, a, b, c, d in SequenceMatcher(None, here, there, autojunk=False).get_opcodes():
        left.append(("".join(here[a:b]), what != "equal"))
        right.append(("".join(there[c:d]), what != "equal"))
    return _runs(left), _runs(right)


def _runs(parts: Sequence[Run]) -> tuple[Run, ...]:
    """Join neighbouring parts into runs; a space between two parts that differ also joins them, so a phrase is
    one run.
    """
    told = [part for part in parts if part[0]]
    lone = {at for at in range(1, len(told) - 1) if told[at][0].isspace() and told[at - 1][1] and told[at + 1][1]}
    runs = list[Run]()
    for at, (text, differs) in enumerate(told):
        differs = differs or at in lone
        if runs and runs[-1][1] == differs:
            runs[-1] = (runs[-1][0] + text, differs)
        else:
            runs.append((text, differs))
    return tuple(runs)


def display_runs(runs: Sequence[Run]) -> list[Run]:
    """Make the text of each run visible with `display`; a run of spaces is kept as it is."""
    return [(text if not text.strip(" ") else display(text), differs) for text, differs in runs]
