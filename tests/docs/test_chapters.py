"""Chapters of the guide and of the concepts name only pages, controls, pictures and addresses that exist."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attnviz.analysis.metric_table import METRICS
from attnviz.anatomy.implementations.page.state import ImplementationsState
from attnviz.anatomy.page.experiment import AnatomyState
from attnviz.app.address.persistent import BAR
from attnviz.causes.attribution.attribution import AttributeState
from attnviz.causes.compared.compared import CompareState
from attnviz.causes.corpus.page.state import SentencesState
from attnviz.causes.page.state import CausesState
from attnviz.causes.patching.patching import PatchState
from attnviz.causes.switches.switches import SwitchOffState
from attnviz.decoding import decoding
from attnviz.heads.heads_state import HeadsState, read_heads_state
from attnviz.heads.page.state import HeadsPageState, read_page_state
from attnviz.kit import fields
from attnviz.kit.focus import SiteBounds
from attnviz.learning import learning_state
from attnviz.lessons.lesson import Link
from attnviz.lessons.library import lesson_named
from attnviz.masks import masks
from attnviz.masks.page.controls import MasksTab
from attnviz.masks.page.leak import LeakState, RowsState
from attnviz.masks.page.output import SaysState
from attnviz.tracing.causes import notation
from tests.docs import chapters
from tests.docs.on_screen import strings
from tests.each_case import each_case

TABS_OF_CAUSES = {
    "": SwitchOffState, "switch-off": SwitchOffState, "patch": PatchState, "attribute": AttributeState,
    "compare": CompareState, "sentences": SentencesState,
}  # fmt: skip
LINKS = chapters.links()
Said = tuple[set[str], list[str]]  # names that a page knows, and what it says against these texts


def test_each_page_of_the_app_has_a_chapter() -> None:
    pages = {path.stem for path in (chapters.ROOT / "pages").glob("*.py")} | {"welcome", "index"}
    assert {path.stem for path in chapters.DOCS.glob("guide/*.md")} == pages


@each_case("name", [path.stem for path in chapters.DOCS.glob("guide/*.md") if path.stem != "index"])
def test_a_chapter_has_its_three_parts_and_three_things_to_try(name: str) -> None:
    raw = (chapters.DOCS / "guide" / f"{name}.md").read_text(encoding="utf-8")
    parts = re.split(r"^## ", raw, flags=re.MULTILINE)[1:]
    assert [part.splitlines()[0] for part in parts] == ["What it answers", "How to read it", "Three things to try"]
    tries = re.split(r"^### ", parts[2], flags=re.MULTILINE)[1:]
    assert len(tries) == 3
    assert all(chapters.APP in one for one in tries)


def test_what_stands_in_bold_stands_on_screen() -> None:
    shown = strings()
    missing = {
        (path.stem, name) for path in chapters.CHAPTERS for name in chapters.bold(path) if name.lower() not in shown
    }
    assert missing == set()


def test_a_live_picture_is_in_the_gallery() -> None:
    there = {path.stem for path in chapters.DOCS.glob("gallery/*.py")}
    assert {name for path in chapters.CHAPTERS for name in chapters.live(path)} <= there


@each_case("link", list(LINKS.values()), ids=list(LINKS))
def test_a_link_opens_its_picture_without_a_complaint(link: Link) -> None:
    known, complaints = READERS[link.page](link.texts, link)
    assert set(link.texts) <= {*BAR, *known}
    assert complaints == []


def test_the_other_links_lead_to_a_page_and_a_lesson() -> None:
    every = {address for path in chapters.CHAPTERS for address in chapters.addresses(path)}
    for path, _, query in (address.partition("?") for address in every - set(LINKS)):
        assert path in chapters.WITHOUT_PICTURE
        if query.startswith("lesson="):
            assert lesson_named(query.removeprefix("lesson="))


def _heads(texts: Mapping[str, str], link: Link) -> Said:
    trace = chapters.run(link).trace
    heads, problems = read_heads_state(texts, SiteBounds.from_trace(trace), METRICS, HeadsState())
    page, more = read_page_state(texts, trace, heads)
    return {*page.to_params(), *HeadsPageState().to_params()}, [*problems, *more, *_changes(texts)]


def _masks(texts: Mapping[str, str], link: Link) -> Said:
    view, problems = masks.view_of(texts, SiteBounds.from_trace(chapters.run(link).trace))
    return _with(texts, {*view.to_params()}, problems, MasksTab, SaysState, LeakState, RowsState)


def _decoding(texts: Mapping[str, str], link: Link) -> Said:
    trace = chapters.run(link).trace
    view, problems = decoding.view_of(texts, trace.n_layers, trace.n_heads, {})
    return {*view.to_params()}, [*problems, *_changes(texts)]


def _causes(texts: Mapping[str, str], link: Link) -> Said:
    return _with(texts, set(), (), CausesState, TABS_OF_CAUSES[texts.get("tab", "")], trace=chapters.run(link).trace)


def _site(state: type) -> Callable[[Mapping[str, str], Link], Said]:
    def read(texts: Mapping[str, str], link: Link) -> Said:
        return _with(texts, set(), (), state, trace=chapters.run(link).trace)

    return read


def _learning(texts: Mapping[str, str], link: Link) -> Said:
    view, problems = learning_state.view_of(texts)
    return {*view.to_params()}, [*problems]


def _with(texts: Mapping[str, str], known: set[str], problems: Any, *states: type, trace: Any = None) -> Said:
    """Read the same texts as further states."""
    bounds = {} if trace is None else SiteBounds.from_trace(trace).by_field()
    said = [*problems, *_changes(texts)]
    for state in states:
        found, more = fields.read(state, texts, bounds)
        known = known | set(fields.write(found))
        said += more
    return known, said


def _changes(texts: Mapping[str, str]) -> tuple[str, ...]:
    return notation.parse(texts.get("do", "")).problems


READERS: Mapping[str, Callable[[Mapping[str, str], Link], Said]] = {
    "Heads": _heads,
    "Masks": _masks,
    "Decoding": _decoding,
    "Causes": _causes,
    "Learning": _learning,
    "Anatomy": _site(AnatomyState),
    "Implementations": _site(ImplementationsState),
}


def test_every_chapter_is_in_its_index() -> None:
    for folder in ("guide", "concepts"):
        index = (chapters.DOCS / folder / "index.md").read_text(encoding="utf-8")
        names = {path.stem for path in chapters.DOCS.glob(f"{folder}/*.md")} - {"index"}
        assert {name for name in names if f"({name}.md)" not in index} == set(), Path(folder)
