"""The terms that pages show, and their definitions."""

import pytest

from attnviz.analysis.heads.metric_table import METRICS
from attnviz.text.glossary import TERMS, definition


def test_every_measure_has_a_definition() -> None:
    for metric in METRICS:
        assert definition(metric.replace("_", " ").replace("eos ", "<eos> "))


def test_capitals_do_not_matter_and_a_term_that_is_missing_is_an_error() -> None:
    assert definition("entropy") == definition("Entropy")
    with pytest.raises(KeyError):
        definition("a term that nobody has defined")


def test_a_definition_is_a_sentence_or_a_few() -> None:
    for term in TERMS:
        text = definition(term)
        assert text.endswith("."), term
        assert len(text) < 320, f"a tooltip is read in passing: {term}"


def test_the_unit_of_a_measure_is_the_one_that_it_is_computed_in() -> None:
    for name, metric in METRICS.items():
        if metric.unit:
            assert metric.unit in definition(name.replace("_", " "))
