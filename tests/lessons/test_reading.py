"""A lesson's file is read line by line; each mistake is reported with its line and its remedy."""

from itertools import pairwise
from pathlib import Path

import pytest

from attnviz.lessons.faults import MOST_NAMED, LessonError
from attnviz.lessons.lesson import Link
from attnviz.lessons.question import Range
from attnviz.lessons.reading import read, read_file
from tests.each_case import each_case

LESSON = """---
title: Two words
minutes: 10
for: anybody
language: en
---
About this lesson.

## First

Some **text** with [a link](https://example.org).

[Picture](http://localhost:8501/heads?v=1&src=I+love+you.&to=fr&kind=cross&layer=1&lesson=x&lesson_step=3)

```python
print("not a question")
```

```question
kind: cell
ask: Which?
row: aime
most: 2
hints: [a nudge, a suggestion]
show: row
why: Because.
```

## Second

/masks?src=I+love+you.&to=zh&step=2

```question
kind: choice
ask: "Yes: or no?"
measure: row_sum
row: "0"
options:
  - say: No
    when: -1 to 0.5
  - say: Yes
    when: 1
```

## Third

Only text.
"""


def test_a_lesson_has_its_front_matter_and_its_steps() -> None:
    lesson = read(LESSON, name="two-words")
    assert (lesson.name, lesson.title, lesson.minutes, lesson.audience) == ("two-words", "Two words", 10, "anybody")
    assert lesson.about == "About this lesson."
    assert [step.title for step in lesson.steps] == ["First", "Second", "Third"]
    assert list(lesson.questions) == [0, 1]


def test_a_step_keeps_its_text_without_picture_and_question() -> None:
    text = read(LESSON).steps[0].text
    assert "**text** with [a link](https://example.org)" in text
    assert 'print("not a question")' in text
    assert "localhost" not in text
    assert "kind: cell" not in text


def test_a_link_counts_whatever_host_it_was_copied_from_and_without_the_place_in_a_lesson() -> None:
    first, second, _ = read(LESSON).steps
    texts = {"v": "1", "src": "I love you.", "to": "fr", "kind": "cross", "layer": "1"}
    assert first.link == Link("Heads", texts, 13)
    assert second.link == Link("Masks", {"src": "I love you.", "to": "zh", "step": "2"}, 31)


def test_a_step_without_a_link_keeps_the_picture_before() -> None:
    lesson = read(LESSON)
    assert lesson.picture(2) == lesson.steps[1].link


def test_a_question_has_its_fields_and_a_word_such_as_no_stays_a_word() -> None:
    cell, choice = read(LESSON).questions.values()
    assert (cell.kind, cell.row, cell.most, cell.hints, cell.cover) == (
        "cell",
        "aime",
        2,
        ("a nudge", "a suggestion"),
        "map",
    )
    assert [option.text for option in choice.options] == ["No", "Yes"]
    assert choice.options[0].when == Range(-1, 0.5)


@each_case(
    ("wrong", "right", "line", "words"),
    [
        ("---\ntitle: Two words", "title: Two words", 1, "begins with"),
        ("minutes: 10", "minutes: ten", 3, "whole number from 1 to 240"),
        ("for: anybody\n", "", 1, "“for” is missing; write “for: …”"),
        ("minutes: 10", "minutes: 10\nlangage: en", 4, "a lesson has no “langage”"),
        ("language: en\n---", "language: en", 1, "has no end"),
        ("## First", "##", 9, "heading of a step needs a text"),
        ("## First", "### First", 19, "put a heading"),
        ("kind: cell", "kind: sell", 20, "cell, row, head"),
        ("row: aime", "rwo: aime", 22, "no field “rwo”"),
        ("most: 2", "most: 20", 23, "step 1, question: “most” is a whole number from 1 to 5, not “20”"),
        ("most: 2", "most: 2\nmost: 3", 24, "question: “most” appears here twice"),
        ("ask: Which?", "ask: Which: one?", 21, "quotes"),
        ("ask: Which?\n", "", 20, "step 1, question: “ask” is missing; write “ask: …”"),
        ("show: row", "show: rows", 25, "row, map, grid, strip"),
        ("    when: 1\n", "", 38, "when: 0 to 0.5"),
        ("kind: cell", "kind: [cell]", 20, "not “a list”"),
        ("most: 2", "most: '0000000000002'", 23, "from 1 to 5"),
        ("most: 2", "most: '0000019999999'", 23, "from 1 to 5"),
        ("minutes: 10", "minutes: 10\nlisted: no", 4, "“listed” is true or false"),
        ("minutes: 10", "minutes: '0000010000000'", 3, "whole number from 1 to 240"),
        ("language: en", "language: en\nsigned: {one: [two]}", 6, "lessons check --sign"),
        ("language: en", "language: en\nsigned: &one {}", 6, "anchors (&name)"),
        ("ask: Which?", "ask: *which", 21, "anchors (&name)"),
        ("row: aime", "row: {a: b}", 22, "is one text"),
        ("when: -1 to 0.5", "when: [-1, 0.5]", 38, "range such as"),
        ("when: -1 to 0.5", "when: 2 to 1", 38, "range such as"),
        ("Only text.", "/heads?src=a\n\n/heads?src=b", 49, "step 3: a step may have only one picture"),
        ("Only text.", "/heads", 47, "shows no picture"),
        ("Only text.", "/hads?src=a", 47, "none of the app's pages"),
        ("Only text.", "- a\n\n  ```question\n  kind: text\n  ```", 49, "left margin"),
        ("Only text.", "```question\nkind: text\nask: What?", 47, "no end"),
        ("Only text.", "```question\n- a\n```", 48, "a name, a colon and a text"),
    ],
)
def test_a_mistake_is_said_with_its_line(wrong: str, right: str, line: int, words: str) -> None:
    with pytest.raises(LessonError, match=r"^Line \d+(, [a-z0-9 ]+)*: .*\.$") as error:
        read(LESSON.replace(wrong, right, 1))
    assert words in str(error.value)
    assert [fault.line for fault in error.value.faults] == [line]


def test_all_mistakes_of_a_file_are_named_at_once_in_the_order_of_their_lines() -> None:
    text = LESSON
    for right, wrong in {
        "minutes: 10": "minutes: ten",
        "row: aime\nmost: 2": "rwo: aime\nmost: 20",
        "/masks?src": "/hads?src",
        '"0"': "[0]",
        "-1 to 0.5": "much",
        "    when: 1\n": "    when: 2 to 1\n",
        "Only text.": "```question\n- a\n```\n\n## \n",
    }.items():
        text = text.replace(right, wrong, 1)
    with pytest.raises(LessonError) as error:
        read(text)
    assert str(error.value).split("\n") == [
        "Line 3, front matter: “minutes” is a whole number from 1 to 240.",
        "Line 22, step 1, question: a question of kind cell has no field “rwo”; it has kind, ask, hints, show, why, "
        "cover, row, most.",
        "Line 23, step 1, question: “most” is a whole number from 1 to 5, not “20”.",
        "Line 31, step 2: this link leads to none of the app's pages (heads, masks, decoding, "
        "learning, causes, anatomy, implementations); please copy it again.",
        "Line 37, step 2, question: “row” is one text; put it in quotes if it holds a colon.",
        "Line 38, step 2, question: “when” is a range such as “0 to 0.5”, or one number, not “much”.",
        "Line 38, step 2, question: “when” is a range such as “0 to 0.5”, or one number, not “2 to 1”.",
        "Line 48, step 3, question: write lines such as “title: …” here: a name, a colon and a text.",
        "Line 51, step 4: the heading of a step needs a text, such as “## Which word?”.",
    ]


def test_a_mistake_hides_no_other_one_of_its_question() -> None:
    question = "kind: choice\nask:\noptions: [one, two]\nshow: rows\nwhy: {a: b}"
    with pytest.raises(LessonError) as error:
        read(f"{LESSON}\n```question\n{question}\n```\n")
    assert [fault.field for fault in error.value.faults] == ["ask", "right", "show", "why"]


def test_of_very_many_mistakes_the_first_are_named_and_the_others_counted() -> None:
    more = "".join(f"wrong{number}: a\n" for number in range(MOST_NAMED + 2))
    with pytest.raises(LessonError) as error:
        read(LESSON.replace("language: en\n", f"language: en\n{more}", 1))
    assert str(error.value).endswith("\nAnd 2 more: please fix these first.")


@pytest.mark.parametrize(("said", "is_listed"), [("", True), ("listed: true\n", True), ("listed: false\n", False)])
def test_a_lesson_is_listed_unless_its_head_says_otherwise(said: str, is_listed: bool) -> None:
    assert read(LESSON.replace("language: en\n", f"language: en\n{said}", 1)).is_listed is is_listed


def test_a_file_that_is_no_text_says_where(tmp_path: Path) -> None:
    path = tmp_path / "broken.md"
    path.write_bytes(b"---\ntitle: \xff\n---\n")
    with pytest.raises(LessonError, match="Line 2: this is not UTF-8 text"):
        read_file(path)


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_other_line_endings_count_the_same(ending: str) -> None:
    assert read(LESSON.replace("\n", ending)) == read(LESSON)


@each_case("text", ["", "---", "---\n---\n", "[" * 5000, "---\n" + "[" * 5000 + "\n---\n", "---\n? a\n---\n"])
def test_whatever_a_file_holds_it_is_one_sentence(text: str) -> None:
    with pytest.raises(LessonError):
        read(text)


def _aliases(field: str, *, levels: int = 7) -> str:
    """Write lists of aliases of aliases: each level is nine times as long as the one before."""
    names = [f"x{level}" for level in range(levels)]
    lines = [f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in pairwise(names)]
    return "\n".join(["x0: &x0 [a, a, a, a, a, a, a, a, a]", *lines, f"{field}: *{names[-1]}"])


@pytest.mark.parametrize("field", ["signed", "title", "minutes"])
def test_aliases_of_aliases_are_refused_before_they_are_followed(field: str) -> None:
    with pytest.raises(LessonError, match=r"anchors \(&name\) and aliases"):
        read(f"---\n{_aliases(field)}\n---\n## One\n")


@each_case("field", ["kind", "heads", "when", "most"])
def test_aliases_in_a_question_are_refused_before_they_are_followed(field: str) -> None:
    with pytest.raises(LessonError, match=r"anchors \(&name\) and aliases"):
        read(LESSON.replace("kind: cell", _aliases(field)))
