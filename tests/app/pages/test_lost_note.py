"""The notes that the model cannot read its input well: each once, on every page."""

import json
from pathlib import Path

import pytest

from attnviz.models import catalogue
from tests.app.pages.on_screen import notes

PAGES = ("", "heads", "masks", "decoding", "anatomy", "implementations")
READS = {
    "what": "short English sentences",
    "weights": "x",
    "tokens": [3, 9],
    "usual": {"fr": -0.2, "zh": -0.2},
    "least": {"fr": -99.0, "zh": -99.0},
}


@pytest.fixture
def model_with_measured_limits(tiny_catalogue: Path):
    """Provide the tiny model with numbers in its config, which go again."""
    path = tiny_catalogue / catalogue.DEFAULT / "config.json"
    before = path.read_text(encoding="utf-8")
    content = json.loads(before)
    content["about"]["reads"] = READS
    path.write_text(json.dumps(content), encoding="utf-8")
    catalogue._entries.cache_clear()  # which are looked for once
    yield
    path.write_text(before, encoding="utf-8")
    catalogue._entries.cache_clear()


@pytest.mark.parametrize("page", PAGES)
def test_a_long_text_and_an_unknown_token_are_told_once(open_page, model_with_measured_limits, page: str) -> None:
    app = open_page(page, src="a big ☃ red dog jumped over a small pond and a big red dog jumped", to="fr")
    assert not app.exception
    assert notes(app).count("This model reads short English sentences and is out of its depth here") == 1
    assert notes(app).count("unknown to the model, which reads <unk> instead: ☃") == 1


def test_an_ordinary_sentence_is_told_nothing(open_page, model_with_measured_limits) -> None:
    assert "out of its depth" not in notes(open_page("heads", src="a big red dog", to="fr"))


def test_a_model_that_was_not_measured_says_nothing_of_what_it_reads(open_page) -> None:
    assert "out of its depth" not in notes(
        open_page("heads", src="a big red dog jumped over a small pond " * 3, to="fr")
    )
