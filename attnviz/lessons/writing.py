"""Conversion of a draft to a lesson's Markdown file, and of a lesson to a draft."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from attnviz.lessons.block import FIELDS
from attnviz.lessons.draft import Draft, DraftStep
from attnviz.lessons.lesson import Lesson, LessonStep, Link
from attnviz.lessons.question import CHOICE, Option, Question

_PLAIN = re.compile(r"[\w/:.?=&%+~,@!'*-]+", re.ASCII)  # an address that Markdown leaves as it is
_COMMON = ("hints", "show", "why", "cover")
_LINE = 118


class _PlainDumper(yaml.SafeDumper):
    """Texts without quotes wherever a lesson's reader, to whom every value is a text, reads the same without."""

    yaml_implicit_resolvers = {}  # noqa: RUF012  (as PyYAML declares it)


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_PlainDumper.add_representer(str, _block)


def markdown(draft: Draft) -> str:
    """Write the file that a draft makes, with missing texts left empty."""
    head = {"title": draft.title, "minutes": draft.minutes, "for": draft.audience, "language": draft.language}
    head |= {"listed": "false"} if draft.unlisted == "true" else {}
    parts = [f"---\n{_yaml({name: text.strip() for name, text in head.items()})}---", draft.about.strip()]
    for step in draft.steps:
        link = step.link.strip()
        picture = f"[The picture]({link})" if _PLAIN.fullmatch(link) else link
        parts += [f"## {step.title.strip()}", step.text.strip(), picture, _question(step.question)]
    return "\n\n".join(part for part in parts if part) + "\n"


def file_name(draft: Draft) -> str:
    """Return the name of its file, made from the title."""
    return (re.sub(r"[^\w]+", "-", draft.title.casefold()).strip("-_")[:60].strip("-_") or "lesson") + ".md"


def draft_of(lesson: Lesson) -> Draft:
    """Convert a lesson to a draft."""
    steps = tuple(_draft_step(step) for step in lesson.steps)
    unlisted = "" if lesson.is_listed else "true"
    return Draft(lesson.title, str(lesson.minutes), lesson.audience, lesson.language, lesson.about, steps, unlisted)


def address(link: Link) -> str:
    """Return a link as a lesson's file holds it, without a host."""
    return f"/{link.page.lower()}?{link.query}"


def _yaml(found: Mapping[str, Any]) -> str:
    return yaml.dump(found, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=_LINE)


def _question(texts: Mapping[str, str]) -> str:
    kind = texts.get("kind", "")
    if not kind:
        return ""
    said = {name: text.strip() for name, text in texts.items()}
    names = [name.rstrip("!") for name in FIELDS.get(kind, ())]
    found = {"kind": kind, "ask": said.get("ask", "")} | {name: _value(name, said) for name in (*names, *_COMMON)}
    block = _yaml({name: value for name, value in found.items() if value})
    longest = max(map(len, re.findall("`+", block)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}question\n{block}{fence}"


def _value(name: str, said: Mapping[str, str]) -> Any:
    """Return a field of the file, made from the typed texts; what cannot be one stays as it is, for the reader to
    refuse.
    """
    text = said.get(name, "")
    if name == "hints":
        return [hint for hint in (said.get("nudge", ""), said.get("suggestion", "")) if hint]
    if name == "heads":
        return [part.strip() for part in text.split(",") if part.strip()]
    if name == "with":
        return _pairs(said.get("more", ""))
    if name == "options":
        return _options(said)
    if name == "right" and said.get("measure"):
        return ""
    return text


def _options(said: Mapping[str, str]) -> list[Any]:
    sentences = [line.strip() for line in said.get("options", "").split("\n") if line.strip()]
    if said["kind"] != CHOICE or not said.get("measure"):
        return sentences
    ranges = [line.strip() for line in said.get("when", "").split("\n")]
    ranges += [""] * len(sentences)
    return [{"say": say, "when": when} for say, when in zip(sentences, ranges, strict=False)]


def _pairs(text: str) -> dict[str, str] | str:
    """Parse “line: contiguous, at: 4” as pairs; another text stays one."""
    pairs = [part.partition(":") for part in text.split(",") if part.strip()]
    if not all(name.strip() and colon for name, colon, _ in pairs):
        return text
    return {name.strip(): value.strip() for name, _, value in pairs}


def _draft_step(step: LessonStep) -> DraftStep:
    link = address(step.link) if step.link else ""
    return DraftStep(step.title, step.text, link, _question_texts(step.question) if step.question else {})


def _question_texts(question: Question) -> dict[str, str]:
    """Return the texts that an author would have typed for a question."""
    nudge, suggestion = (*question.hints, "", "")[:2]
    found = {
        **{name: getattr(question, name) for name in ("kind", "ask", "row", "col", "by", "measure", "unit", "show")},
        "most": str(question.most) if question.most > 1 else "",
        "heads": ", ".join(f"L{layer} H{head}" for layer, head in question.heads),
        "least": "true" if question.least else "",
        "within": f"{question.within:.12g}" if question.within else "",
        "more": ", ".join(f"{name}: {value}" for name, value in (question.more or {}).items()),
        "options": "\n".join(option.text for option in question.options),
        "when": "\n".join(_range(option) for option in question.options).strip(),
        "right": "" if question.right is None else str(question.right + 1),
        "nudge": nudge,
        "suggestion": suggestion,
        "why": question.why,
        "cover": question.cover,
    }
    return {name: text for name, text in found.items() if text}


def _range(option: Option) -> str:
    if option.when is None:
        return ""
    low, high = (f"{value:.12g}" for value in (option.when.low, option.when.high))
    return low if low == high else f"{low} to {high}"
