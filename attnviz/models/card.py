"""Read a checkpoint's card (README.md) and licence file.

The checkpoint's author wrote them, so they are read up to a limit and shown as text; missing facts stay missing.
"""

import csv
import io
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnviz.guards import plain_file
from attnviz.text.languages import language_name

PRUNING = "pruning-*.csv"  # one file per language, written by `python -m attnviz.causes.corpus --card`
_ORDER, _SHARE = "gradient, least important first", 3  # the fact that is shown: the scores without a third of the heads
CARD, LICENCES = "README.md", ("LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE")
_MOST_CARD, _MOST_HEAD, _MOST_SAID = 1_000_000, 20_000, 400  # bytes, bytes of the YAML head, characters of one fact
_HEAD = re.compile(r"\A\ufeff?---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
_SECTION = re.compile(r"^#+\s*[^\n]*\b(?:licen[cs]e|attribution)\b[^\n]*\n+(.*?)(?=^#|\Z)", re.DOTALL | re.M | re.I)
_KEYS = {
    "license": "licence",
    "license_name": "licence's name",
    "base_model": "made from",
    "datasets": "learned from",
    "language": "languages",
    "pipeline_tag": "meant for",
}


@dataclass(frozen=True)
class Card:
    """Contents of a model card: its `facts`, and in `words` its paragraph on licence or attribution ("" if none)."""

    facts: dict[str, str]
    words: str = ""


def card(folder: Path | None) -> Card:
    """Read the card and licence file in a folder; a missing or unreadable file gives an empty card."""
    text = "" if folder is None else _text(folder / CARD)
    facts = _facts(text)
    if folder is not None and "licence" not in facts and (named := _licence(folder)):
        facts = {"licence": named} | facts
    section = _SECTION.search(text)
    return Card(facts, _plain_text(section[1]) if section else "")


def pruning_facts(folder: Path | None, weights: str) -> dict[str, str]:
    """Return, for each target language, the BLEU of a shipped model with a third of its heads pruned.

    The scores come from files in `folder`; the result is {} if they were measured with other weights than `weights`.
    """
    found = {}
    for path in sorted(folder.glob(PRUNING)) if folder is not None else ():
        points = [one for one in _lines(path) if one.get("weights") == weights and one.get("order") == _ORDER]
        if said := _pruning_point(points):
            to = language_name(path.stem.removeprefix("pruning-"))
            found[f"into {to}, without {said[0]} heads"] = said[1]
    return found


def _lines(path: Path) -> list[dict[str, str]]:
    try:
        return list(csv.DictReader(io.StringIO(_text(path))))
    except csv.Error:
        return []


def _pruning_point(points: list[dict[str, str]]) -> tuple[str, str] | None:
    """Return how many heads were pruned and the BLEU scores, both as text; None if `points` lack these numbers."""
    try:
        by_count = {int(one["removed"]): (float(one["bleu"]), one["sentences"]) for one in points}
        count = max(by_count)
        (before, sentences), (after, _) = by_count[0], by_count[count // _SHARE]
    except (KeyError, ValueError, TypeError):
        return None
    if math.isnan(before):  # BLEU was left out
        return None
    said = f"BLEU {after:.1f} of {before:.1f}, on {sentences} sentences; the least important first, by gradient"
    return f"{count // _SHARE} of {count}", said


def _text(path: Path) -> str:
    try:
        return plain_file.content(path, most=_MOST_CARD).decode("utf-8", "replace").replace("\r\n", "\n")
    except (OSError, ValueError):
        return ""


def _facts(text: str) -> dict[str, str]:
    head = _HEAD.match(text[:_MOST_HEAD])
    said = _mapping(head[1]) if head else {}
    return {name: told for key, name in _KEYS.items() if (told := _join_names(said.get(key)))}


def _mapping(head: str) -> dict[Any, Any]:
    import yaml  # PyYAML: huggingface_hub, which reads cards with it, brings it along

    from attnviz.guards.plain_yaml import ValueLoader

    try:
        said = yaml.load(head, Loader=ValueLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _join_names(value: Any) -> str:
    """Return a name, or the names of a list joined with commas; "" for anything else."""
    names = [name for name in (value if isinstance(value, list) else [value]) if isinstance(name, str | int | float)]
    return _cut(", ".join(str(name) for name in names if not isinstance(name, bool)))


def _licence(folder: Path) -> str:
    """Return the first line of a licence file, which is the licence's name."""
    texts = (_text(folder / name) for name in LICENCES)
    lines = [line.strip("# ").strip() for text in texts for line in text.splitlines()]
    return _cut(next((line for line in lines if line), ""))


def _plain_text(section: str) -> str:
    """Return the first paragraph of a Markdown section as plain text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", section).replace("**", "").replace("`", "")
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return _cut(next((part for part in paragraphs if part and not part.startswith(("|", "<", "```"))), ""))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_SAID else text[: _MOST_SAID - 1] + "…"
