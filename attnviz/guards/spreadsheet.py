"""Make texts in CSV files safe for spreadsheets, which would run a text that looks like a formula.

A spreadsheet may split a quoted text at semicolons, tabs or line ends, because it recognizes quotes only at the start
of a cell. So a formula is searched for after each of these characters, not only at the start.
`attnviz/kit/js/downloads.js` follows the same rule.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII)
_BEGINS = r"(?:^|(?<=[;|\t\r\n\v\f\x85\u2028\u2029]))"
_FORMULA = re.compile(rf"""{_BEGINS}(?=[ \xa0\u2000-\u200b\u3000\ufeff"']*[=+\-@＝＋－＠])|^(?=[\t\r])""")


def escape_formula(text: str) -> str:
    """Put an apostrophe before every part of a text that a spreadsheet could run as a formula; keep numbers as they
    are.
    """
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub("'", text)


def csv_file(table: "pd.DataFrame") -> bytes:
    """Write a table as CSV in UTF-8 with a byte-order mark, which spreadsheets expect, with formulas escaped."""
    return _make_harmless(table).to_csv(index=False).encode("utf-8-sig", "replace")


def _make_harmless(table: "pd.DataFrame") -> "pd.DataFrame":
    texts = table.select_dtypes(include=["object", "string"]).columns
    told = table.assign(
        **{name: [escape_formula(cell) if isinstance(cell, str) else cell for cell in table[name]] for name in texts}
    )
    return told.rename(columns=lambda name: escape_formula(name) if isinstance(name, str) else name)
