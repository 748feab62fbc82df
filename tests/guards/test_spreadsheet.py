"""No text in a CSV file becomes a formula, whichever sign a spreadsheet divides lines by; numbers stay numbers."""

import re

import pandas as pd

from attnviz.guards.spreadsheet import csv_file, escape_formula
from tests.each_case import each_case

ENDS = "[\\n\\r\\v\\f\\x85\\u2028\\u2029]"
MADE_OF = (
    "",
    "x",
    " ",
    "\xa0",
    '"',
    "'",
    ";",
    "\t",
    "|",
    "\n",
    "\r",
    "\u2028",
    "=1",
    "+1",
    "-1",
    "@A1",
    "＝1",
    "\\",
    ",",
)
TEXTS = [f"{one}{two}{three}{four}" for one in MADE_OF for two in MADE_OF for three in MADE_OF for four in ("", "=1;")]
KEPT = ["", "cat", "-1", "-2.5e-07", "0.25", "a-b", "a = b", "l'eau", "don't", "well - no", "(+1)", "Yes, -1"]


def formulas(text: str, separator: str) -> list[str]:
    """Find the formulas that a spreadsheet would run, which cuts a text at separators and line ends, quoted or not."""
    cells = re.split(f"{re.escape(separator)}|{ENDS}", text)
    found = [cell.strip(' \xa0\t"') for cell in cells]
    return [cell for cell in found if cell[:1] in tuple("=+-@＝") and not re.fullmatch(r"-?\d+", text)]


@each_case("separator", [";", "\t", "|", "\n"])
def test_a_text_cut_at_any_separator_has_no_formula(separator: str) -> None:
    assert [text for text in TEXTS if formulas(escape_formula(text), separator)] == []


@each_case("text", KEPT)
def test_a_text_without_a_formula_and_a_number_stay_as_they_are(text: str) -> None:
    assert escape_formula(text) == text


def test_a_table_keeps_its_numbers_and_quotes_its_texts_and_names() -> None:
    table = pd.DataFrame({"=token": ["=1", "cat", None], "value": [-0.5, 0.25, 1.0]})
    assert csv_file(table).decode("utf-8-sig") == "'=token,value\n'=1,-0.5\ncat,0.25\n,1.0\n"
