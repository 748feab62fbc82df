"""Files made in the browser hold what those made in Python hold."""

from attnviz.guards.spreadsheet import escape_formula
from tests.guards.test_spreadsheet import KEPT, TEXTS
from tests.heads.component.heads_page import NEEDS_A_BROWSER

pytestmark = NEEDS_A_BROWSER


def test_a_text_in_a_csv_file_is_made_harmless_as_in_python(module) -> None:
    evaluate = module("kit/js/downloads.js")
    texts = [*TEXTS, *KEPT]
    assert evaluate("(exports, texts) => texts.map(exports.harmless)", texts) == [
        escape_formula(text) for text in texts
    ]
