"""Conversion of a draft from version 1.0, which a browser may still have stored as JSON, into a lesson's Markdown."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from attnviz.lessons.block import FIELDS
from attnviz.lessons.question import CHOICE

_PLAIN = re.compile(r"[\w/:.?=&%+~,@!'*-]+", re.ASCII)  # an address that Markdown does not change
_COMMON = ("hints", "show", "why", "cover")
_HEAD = {"title": "", "minutes": "10", "for": "", "language": "en"}


def markdown_of(draft: Mapping[str, Any]) -> str:
    """Write a draft of 1.0 as Markdown; missing fields stay empty."""
    steps = draft.get("steps")
    head = {name: _text(draft, "audience" if name == "for" else name) or usual for name, usual in _HEAD.items()}
    head |= {"listed": "false"} if _text(draft, "unlisted") == "true" else {}
    parts = [f"---\n{_yaml(head)}---", _text(draft, "about")]
    for step in (one for one in (steps if isinstance(steps, list) else []) if isinstance(one, dict)):
        link, asked = _text(step, "link"), step.get("question")
        picture = f"[The picture]({link})" if _PLAIN.fullmatch(link) else link
        question = _question({name: _text(asked, name) for name in asked}) if isinstance(asked, dict) else ""
        parts += [f"## {' '.join(_text(step, 'title').split())}", _text(step, "text"), picture, question]
    return "\n\n".join(part for part in parts if part) + "\n"


def _text(found: Mapping[str, Any], name: str) -> str:
    text = found.get(name)
    return text.strip() if isinstance(text, str) else ""


def _yaml(found: Mapping[str, Any]) -> str:
    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=118)


def _question(said: Mapping[str, str]) -> str:
    """Write the block of a question. Invalid values are written unchanged, so that the lesson's reader reports them."""
    if not (kind := said.get("kind", "")):
        return ""
    names = [name.rstrip("!") for name in FIELDS.get(kind, ())]
    found = {"kind": kind, "ask": said.get("ask", "")} | {name: _value(name, said) for name in (*names, *_COMMON)}
    block = _yaml({name: value for name, value in found.items() if value})
    fence = "`" * max(3, max(map(len, re.findall("`+", block)), default=0) + 1)
    return f"{fence}question\n{block}{fence}"


def _value(name: str, said: Mapping[str, str]) -> Any:
    if name == "hints":
        return [hint for hint in (said.get("nudge", ""), said.get("suggestion", "")) if hint]
    if name == "heads":
        return [part.strip() for part in said.get("heads", "").split(",") if part.strip()]
    if name == "with":
        return _pairs(said.get("more", ""))
    if name == "options":
        return _options(said)
    return "" if name == "right" and said.get("measure") else said.get(name, "")


def _options(said: Mapping[str, str]) -> list[Any]:
    sentences = [line.strip() for line in said.get("options", "").split("\n") if line.strip()]
    if said["kind"] != CHOICE or not said.get("measure"):
        return sentences
    ranges = [line.strip() for line in said.get("when", "").split("\n")] + [""] * len(sentences)
    return [{"say": say, "when": when} for say, when in zip(sentences, ranges, strict=False)]


def _pairs(text: str) -> dict[str, str] | str:
    """Parse a text such as “line: contiguous, at: 4” into a dictionary. Any other text is returned unchanged."""
    pairs = [part.partition(":") for part in text.split(",") if part.strip()]
    if not all(name.strip() and colon for name, colon, _ in pairs):
        return text
    return {name.strip(): value.strip() for name, _, value in pairs}
