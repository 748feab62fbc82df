"""What is left out of a script or a style sheet that is sent says nothing to a browser."""

import re

from attnviz.widgets import stripped
from attnviz.widgets.bundle import WIDGETS

SCRIPT = """// What it is.

export function here(there) {
  // Why.
  return there // 2, rounded
    ? "// no comment" : `a ${
      there} b`;
}
"""


def test_a_script_loses_indentation_and_lines_of_comment() -> None:
    assert stripped.script(SCRIPT).splitlines() == [
        "export function here(there) {",
        "return there // 2, rounded",
        '? "// no comment" : `a ${',
        "there} b`;",
        "}",
    ]


def test_a_line_ends_only_where_javascript_ends_it() -> None:
    assert stripped.script("const a = 'b\u2028  // c';\n") == "const a = 'b\u2028  // c';\n"


def test_a_style_sheet_loses_comments() -> None:
    assert stripped.style("/* Of\n   a. */\na,\nb {\n  top: 0; /* why */\n}\n") == "a,\nb {\ntop: 0;\n}\n"


def test_no_template_literal_of_ours_has_text_on_several_lines() -> None:
    for file in WIDGETS.rglob("*.js"):
        for at, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            opened = not line.lstrip().startswith("//") and line.count("`") % 2
            is_continued = re.search(r"\$\{[^}]*$", line) or re.match(r"[^`]*\}[^`]*`", line)
            assert not opened or is_continued, f"{file.name}:{at} would lose what its text is indented by"
