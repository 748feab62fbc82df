"""The package, the citation and the changelog name the same version."""

import re
from pathlib import Path

import attnviz

ROOT = Path(__file__).parents[1]


def test_citation_and_changelog_name_the_version_and_its_date() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(.+)\] - (.+)$", changelog, re.MULTILINE)
    assert newest is not None
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^(?:version|date-released): (.+)$", cited, re.MULTILINE) == [*newest.groups()]
    assert newest[1] == attnviz.__version__
