"""A caption is broken into lines that fit, at spaces where there are any, and never within a sign."""

import pytest

from tests.each_case import each_case
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER

FONT = "monospace"
SENTENCES = {
    "short": "I love you.",
    "words": "the cat sat on the mat and looked at the dog " * 6,
    "chinese": "机器学习很有趣而且很有用" * 12,
    "one word": "Donaudampfschifffahrtsgesellschaft" * 8,
    "astronauts": "🧑‍🚀" * 60,
}
ROWS = """({ captionRows, CAPTIONS }, [lines, width, font]) => {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `400 ${CAPTIONS.size}px ${font}`;
  const rows = captionRows(lines, width, font);
  return [rows, rows.map((row) => context.measureText(row).width), width - 2 * CAPTIONS.margin];
}"""


@pytest.fixture(scope="module")
def caption(module):
    return module("kit/js/caption.js")


@each_case("width", [120, 300, 900])
@each_case("sentence", SENTENCES.values(), ids=SENTENCES.keys())
def test_every_row_fits_and_nothing_is_lost_unless_it_says_so(caption, sentence: str, width: int) -> None:
    rows, widths, room = caption(ROWS, [[sentence, "L0 H0"], width, FONT])
    *told, site = rows
    assert site == "L0 H0"
    assert 1 <= len(told) <= 3
    assert max(widths) <= room + 15  # the … may stand where the text's last signs stood
    whole = "".join(told).replace(" ", "")
    if whole.endswith("…"):
        assert len(told) == 3
        assert sentence.replace(" ", "").startswith(whole[:-1])
    else:
        assert whole == sentence.replace(" ", "")


@pytest.mark.parametrize("width", [250, 275, 310])
def test_words_stay_whole_where_there_are_spaces(caption, width: int) -> None:
    rows, *_ = caption(ROWS, [[SENTENCES["words"], ""], width, FONT])
    words = set(SENTENCES["words"].split())
    assert all(set(row.split()) <= words for row in rows[:2] if row)


def test_an_astronaut_stays_one_sign(caption) -> None:
    rows, *_ = caption(ROWS, [[SENTENCES["astronauts"], ""], 120, FONT])
    assert all(row.removesuffix(" …").replace("🧑‍🚀", "") == "" for row in rows)


def test_a_caption_is_as_high_as_its_rows(caption) -> None:
    act = "({ captionHeight, CAPTIONS }) => [captionHeight(['a', 'b']) - captionHeight(['a']), CAPTIONS.line]"
    one_more, line = caption(act)
    assert one_more == line
