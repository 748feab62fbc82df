"""A link from an earlier version opens the same picture: the page then offers an equal link to copy."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app.address import share
from attnviz.app.address.persistent import FORMER
from attnviz.models import catalogue
from tests.earlier.kept import EARLIER, NEWEST, files, version

DASHBOARD = EARLIER.parents[2] / "dashboard.py"
LINKS = [
    pytest.param(link, id=f"{version(file)}-{urlsplit(link).path}-{number}")
    for file in files("links.json")
    for number, link in enumerate(json.loads(file.read_text(encoding="utf-8")))
]
# Links carried the defaults of all tabs; today's carry the open tab's own, and what was chosen on the others.
OF_OTHER_TABS = {"instead": "", "step": "", "at": "", "arrived": "2"}
CUT = "The translation was cut after"  # the tiny model's own, and no news of a link


@pytest.fixture(autouse=True, scope="module")
def _the_model_of_the_links(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    models = tmp_path_factory.mktemp("models")
    shutil.copytree(NEWEST / "checkpoint", models / catalogue.DEFAULT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "SHIPPED", models)
        yield


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the queries that pages offer to copy."""
    found: list[str] = []
    for name in ("shared_query", "page_query"):
        make = getattr(share, name)
        monkeypatch.setattr(share, name, lambda *given, make=make: found.append(make(*given)) or found[-1])
    return found


def texts(query: str, page: str = "") -> dict[str, str]:
    """Read a query; give old keys their names of today."""
    former = FORMER.get(page.title(), {})
    return {former.get(name, name): text for name, text in parse_qsl(query, keep_blank_values=True)}


@pytest.mark.parametrize("link", LINKS)
def test_an_earlier_link_shows_what_it_showed(link: str, offered: list[str]) -> None:
    asked = urlsplit(link)
    page = Path(asked.path).name
    app = AppTest.from_file(str(DASHBOARD), default_timeout=300)
    for name, text in parse_qsl(asked.query, keep_blank_values=True):
        app.query_params[name] = text
    (app.switch_page(f"pages/{page}.py") if page else app).run()
    assert not app.exception
    assert [note.value for note in (*app.error, *app.info) if CUT not in note.value] == []
    then, now = texts(asked.query, page), texts(offered[-1])
    if page == "heads" and then.get("row") and not then.get("held"):
        then["held"] = f"q{then['row']}"  # since 1.1 Links holds the row that is pinned, too
    left_out = OF_OTHER_TABS if page == "masks" else {}
    if page == "heads":
        left_out = {name: text for name, text in then.items() if name == "held" or not text}
    assert {name: now.get(name, left_out.get(name)) for name in then} == then
