"""The catalogue of families, opened as visitors open them, against docs/reference/models.md."""

import pytest

from tests.models.huggingface import table
from tests.models.huggingface.families import FAMILIES
from tests.models.huggingface.files.forms import FORMS

ANEW = "make docs/reference/models.md anew: python -m tests.models.huggingface.table"
LINES = table.DOCUMENT.read_text(encoding="utf-8").splitlines()
SAID = {
    cells[0]: tuple(cells) for cells in ([cell.strip() for cell in line[1:-1].split("|")] for line in LINES if line)
}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_table_says_what_is_so(name, family):
    """Whether it is shown, with which files, and on which pages; what differs is rounding."""
    found = table.row(name, family(name))
    said = SAID[name]
    assert (*said[:4], *said[5:]) == found.says(), ANEW
    if found.difference is not None:
        assert found.difference < 1e-4
        assert float(said[4]) < 1e-4


@pytest.mark.parametrize("name", FORMS)
def test_each_form_of_files_is_opened_or_refused_as_the_document_says(name, tmp_path):
    assert table.file_line(name, tmp_path) in LINES, ANEW


def test_the_tokenizers_that_are_not_read_are_those_of_this_transformers():
    names = ", ".join(f"`{name}`" for name in table.python_alone())
    assert LINES[-1] == f"{names}.", ANEW


def test_the_table_has_every_family_and_no_other():
    assert [line.split("|")[1].strip() for line in LINES if line.startswith("|")][2 : 2 + len(FAMILIES)] == [*FAMILIES]
