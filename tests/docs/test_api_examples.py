"""The examples of docs/reference/api.md: each public name has one, and they run from the first to the last."""

import doctest
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "api.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = "\n".join(re.findall(r"```pycon\n(.*?)```", TEXT, re.DOTALL))
PROMISE = json.loads((ROOT / "tests" / "promise.json").read_text(encoding="utf-8"))
BY_OTHERS = {"from_recorder"}  # made by models, not by hand


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    examples = doctest.DocTestParser().get_doctest(EXAMPLES, {}, PAGE.name, str(PAGE), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=flags, verbose=False).run(examples, out=said.append)
    assert not result.failed, "".join(said)
    assert result.attempted > 50


def test_every_public_name_has_an_example() -> None:
    names = {*(f"attnviz.{name}" for name in PROMISE["names"]), *(f"views.{name}" for name in PROMISE["views"])}
    names |= {f"show.{name}" for name in PROMISE["show"]}
    assert {name for name in names if not re.search(rf"\b{re.escape(name)}\b", EXAMPLES)} == {"attnviz.Trace"}


def test_every_member_of_a_trace_has_an_example_and_a_description() -> None:
    members = set(PROMISE["classes"]["Trace"]) - BY_OTHERS
    assert {name for name in members if f"trace.{name}" not in EXAMPLES} == set()
    methods = {name for name, taken in PROMISE["classes"]["Trace"].items() if taken != "value"}
    assert {name for name in methods if f".. automethod:: attnviz.Trace.{name}\n" not in TEXT} == set()
