"""The terms that pages show, their definitions, and the places where they can be tried."""

import re

import pytest

from attnviz.analysis.metric_table import METRICS
from attnviz.anatomy.implementations.page import state as implementations
from attnviz.anatomy.page import experiment as anatomy
from attnviz.app.layout import PATHS
from attnviz.causes.page import state as causes
from attnviz.decoding.page import controls as decoding
from attnviz.heads.page import tabs as heads
from attnviz.kit.glossary import FILES, all_definitions, definition, definitions, parse, text_of, tried_on, words_on
from attnviz.masks.page import controls as masks
from tests.each_case import each_case

TABS = {
    "Heads": heads.titles(),
    "Decoding": decoding.TABS,
    "Masks": masks.TABS,
    "Causes": causes.TABS,
    "Anatomy": anatomy.TABS,
    "Implementations": implementations.TABS,
}
TITLES = PATHS.keys() - {"Welcome"}


def test_every_measure_has_a_definition_in_its_unit() -> None:
    for name, metric in METRICS.items():
        text = definition(name.replace("_", " ").replace("eos ", "<eos> "))
        assert metric.unit in text, name


def test_capitals_do_not_matter_and_a_term_that_is_missing_is_an_error() -> None:
    assert definition("entropy") == definition("Entropy")
    with pytest.raises(KeyError):
        definition("a term that nobody has defined")


def test_a_definition_is_a_sentence_or_a_few() -> None:
    bad = {term: text for term, text in all_definitions().items() if not text.endswith(".") or len(text) >= 320}
    assert bad == {}, "a tooltip is read in passing"


@each_case("page", sorted(TITLES | {"Welcome"}))
def test_every_term_of_a_page_has_a_place_that_exists(page: str) -> None:
    for term in tried_on(page):
        assert term.place.page in TITLES, term
        assert TABS.get(term.place.page, {}).get(term.place.tab, "") == term.place.title, term


@pytest.mark.parametrize("page", ["Anatomy", "Implementations"])
def test_a_term_that_tabs_list_is_tried_on_one_of_them(page: str) -> None:
    listed = {(place, tab): words_on(place, tab) for place in ("Anatomy", "Implementations") for tab in TABS[place]}
    for term in tried_on(page):
        tabs = {at for at, names in listed.items() if term.name in names and at[0] == term.place.page}
        assert not tabs or (term.place.page, term.place.tab) in tabs or term.name == term.place.title, term


def test_pages_without_a_file_of_terms_show_those_of_the_frame() -> None:
    assert definitions("Lessons") == {}
    assert {term.name for term in tried_on("Lessons")} < {term.name for term in tried_on("Heads")}
    assert "Lessons" not in FILES


@each_case(
    ("text", "said"),
    [
        ("# Heads\n\n## Fit\n\n## Read\n\nRows.", "'Fit': has no text below it"),
        ("## Fit\n\nOne.\n\n## Fit\n\nTwo.", "'Fit': has two definitions"),
        ("## Fit\n\nOne.\n\n##Read\n\nTwo.", "'Fit': '##Read' is no heading"),
        ("# Heads, Links\n\n## Fit\n\nOne.", "'Heads, Links': is no place"),
        ("# Anatomy: Claims (claims)\n\nWords: rank,\nview\n\n## rank\n\nOne.", "Words lists 'view'"),
    ],
)
def test_a_broken_file_is_refused_in_one_sentence_that_names_file_and_heading(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=rf"^assets/terms/heads\.md.*{re.escape(said)}.*\.$"):
        parse(text, "assets/terms/heads.md", "Heads")


def test_a_text_that_asks_for_an_unknown_number_is_refused() -> None:
    assert "7 positions later" in text_of(
        "claims.md", "A rotated product depends on the distance, not on the positions", by=7, queries=1.0, scores="0"
    )
    with pytest.raises(ValueError, match=r"cannot fill in 'most'; the text may use \{heads\}"):
        text_of("claims.md", "without softmax", heads=3, least=1.0)
