"""Functions for a draft: the Markdown of a lesson that a teacher is still writing, which may have mistakes.

The teacher's browser keeps the draft; `attnviz/app/widgets/copy_link/kept_draft.js` appends steps to the same text.

A browser may still keep a draft of version 1.0: a form's fields as JSON, which `earlier_draft` makes into Markdown.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from attnviz.analysis.metric_table import METRICS
from attnviz.lessons.block import FIELDS
from attnviz.lessons.measures import MEASURES
from attnviz.lessons.picture import LinkedPicture
from attnviz.lessons.question import CHOICE, COVERS
from attnviz.lessons.reading import ReadText
from attnviz.lessons.values import SPOTS

_PLAIN = re.compile(r"[\w/:.?=&%+~,@!'*-]+", re.ASCII)  # an address that Markdown does not change
_COMMON = ("hints", "show", "why", "cover")
_HEAD = {"title": "", "minutes": "10", "for": "", "language": "en"}
MOST_TEXT = 200_000  # characters
HEAD = "---\ntitle: \nminutes: 10\nfor: \nlanguage: en\n---\n"
NEW = f"""{HEAD}One or two sentences for the list of lessons.

## The first step

What a student needs to know.
"""
# A short block for each kind of question; a choice comes in two forms.
TEMPLATES: Mapping[str, str] = {
    "Cells: where is most weight?": "kind: cell\nask: Which token has most weight here?\nrow: ",
    "A row: draw how its weight is shared out": "kind: row\nask: How does this row share out its weight?\nrow: ",
    "A head: which of these?": "kind: head\nask: Which of these heads looks at the next token?\n"
    "heads: [L0 H0, L0 H1]\nby: next_token",
    "A token: what is written at this step?": "kind: token\nask: What does the model write here?\nrow: ",
    "The translation: what does the model write?": "kind: translation\nask: What does the model write?",
    "A number": "kind: number\nask: How large is it?\nmeasure: ",
    "One of several answers: I say which is right": "kind: choice\nask: Which is true?\noptions:\n  - One answer\n"
    "  - Another answer\nright: 1",
    "One of several answers: a measure decides": "kind: choice\nask: How much is it?\nmeasure: \noptions:\n"
    "  - say: Less than half\n    when: 0 to 0.5\n  - say: More than half\n    when: 0.5 to 1",
    "Free text, not scored": "kind: text\nask: What do you see?",
}
_KEY = re.compile(r"[ \t-]*(row|col|measure|cover|show|by|kind):[ \t]*(.*)")


def draft_of_kept(kept: str) -> str:
    """Return a draft's text from the JSON that a browser has stored, which is a text or the fields of version 1.0's
    form.

    Raises ValueError for any other JSON.
    """
    try:
        found = json.loads(kept)
    except RecursionError:
        raise ValueError("This is not a draft: its JSON is nested too deeply.") from None
    if not isinstance(found, str | dict):
        raise ValueError("This is not a draft: it is neither a text nor the fields of a form.")
    text = clean_text(found if isinstance(found, str) else markdown_of(found))
    return text if text.startswith("---") else f"{HEAD}\n{text.lstrip()}"


def clean_text(text: str) -> str:
    """Replace lone surrogates, NUL characters and carriage returns in a text, and truncate it to the longest draft."""
    plain = text[:MOST_TEXT].encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return plain.replace("\r\n", "\n").replace("\r", "\n")


def without_signatures(text: str) -> str:
    """Remove the line `signed` from the front matter: it is valid only for the lesson that was signed."""
    end = text.find("\n---", 3)
    return re.sub(r"\nsigned:.*(?:\n[ \t].*)*", "", text[:end]) + text[end:] if end > 0 else text


def file_name(title: str) -> str:
    """Return the name of a lesson's file, made from its title."""
    return (re.sub(r"[^\w]+", "-", title.casefold()).strip("-_")[:60].strip("-_") or "lesson") + ".md"


def step_at(text: ReadText, line: int) -> int:
    """Return the number of the step that a line belongs to, counted from 1; 0 for a line before the first step."""
    return sum(step.line <= line for step in text.steps)


def insert_question(draft: str, text: ReadText, line: int, block: str) -> str:
    """Insert the block of a question at the end of the step that `line` belongs to, and return the new draft.

    If that step already has a question, or if there is no step, the question becomes a new step.
    """
    lines, at = draft.split("\n"), step_at(text, line)
    question = f"```question\n{block}\n```"
    end = text.steps[at - 1].end if at else (text.steps[0].line if text.steps else len(lines) + 1)
    before = "\n".join(lines[: end - 1]).rstrip()
    asks = at == 0 or "```question" in "\n".join(lines[text.steps[at - 1].line - 1 : end - 1])
    heading = "## A question\n\n" if asks else ""
    after = "\n".join(lines[end - 1 :]).lstrip("\n")
    return f"{before}\n\n{heading}{question}\n" + (f"\n{after}" if after else "")


def field_on(draft: str, line: int) -> str:
    """Return the key on a line, such as "row", if its value can be chosen from a list; "" otherwise."""
    lines = draft.split("\n")
    found = _KEY.fullmatch(lines[line - 1]) if 0 < line <= len(lines) else None
    return found[1] if found else ""


def replace_value(draft: str, line: int, value: str) -> str:
    """Replace the value that follows a key on one line of a draft, such as `row: 3`."""
    lines = draft.split("\n")
    lines[line - 1] = re.sub(r"(:)[ \t]*.*$", lambda colon: f"{colon[1]} {value}", lines[line - 1], count=1)
    return "\n".join(lines)


def offers(field: str, picture: LinkedPicture | None) -> Mapping[str, str]:
    """Return the possible values of a key as {label: value}. The values of rows and columns come from the picture."""
    if field in ("row", "col"):
        if picture is None:
            return {}
        labels = picture.maps.rows if field == "row" else picture.maps.cols
        names = [label.text for label in labels]
        shorts = [getattr(label, "output", None) or getattr(label, "input", None) or label.text for label in labels]
        find = picture.row if field == "row" else picture.col
        return {
            f"{at}  {name}": _place(at, short.strip(), find)
            for at, (name, short) in enumerate(zip(names, shorts, strict=True))
        }
    if field == "measure":
        return {f"{name}: {one.means}{_needs(one.needs)}": name for name, one in MEASURES.items()}
    plain = {"cover": COVERS, "show": SPOTS, "by": ("weight", *METRICS), "kind": tuple(FIELDS)}.get(field, ())
    return {name: name for name in plain}


def _needs(needs: tuple[str, ...]) -> str:
    return f" (needs {', '.join(needs)})" if needs else ""


def _place(at: int, token: str, find: Callable[[str], int]) -> str:
    """Return how a lesson refers to the token at position `at`: by its text, or by its number if the text is no safe
    name.

    A text is safe if YAML needs no quotes for it and `find` finds this position by it.
    """
    try:
        is_only = bool(re.fullmatch(r"[^\W\d_][\w' -]*", token)) and find(token) == at
    except ValueError:
        is_only = False
    return token if is_only else f'"{at}"'


def markdown_of(draft: Mapping[str, Any]) -> str:
    """Convert a draft in the format of version 1.0 to Markdown; missing fields become empty."""
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
