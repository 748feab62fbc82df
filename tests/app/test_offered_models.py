"""ATTNVIZ_MODELS: what it does not list is refused by one sentence, before anything is looked for on the disk."""

import pytest

from attnviz.app import offered_models
from attnviz.app.cache import traces
from attnviz.models import catalogue
from tests.each_case import each_case


@pytest.fixture
def requested_models(monkeypatch) -> list[str]:
    """Record the names of models that are looked for on the disk."""
    names: list[str] = []

    def load(name, **options):
        names.append(name)
        raise ValueError("There is no such folder.")

    monkeypatch.setattr(catalogue, "load", load)
    return names


@each_case("listed", ["", "gpt2", " gpt2 , ,/models/own "])
@each_case("name", ["/etc", "/no/such/folder", "gpt2-medium", "another", ""])
def test_a_model_that_is_not_listed_is_refused_whether_it_exists_or_not(
    listed, name, requested_models, monkeypatch
) -> None:
    monkeypatch.setenv(offered_models.VARIABLE, listed)
    said = f"This server does not offer the model “{name}”. Please choose one from the list."
    for opened in (lambda: traces.model(name), lambda: traces._read((name, None), None)):
        with pytest.raises(ValueError, match="does not offer") as error:
            opened()
        assert str(error.value) == said
    assert not requested_models
    assert not offered_models.is_offered(name)


def test_what_is_listed_or_shipped_is_offered(requested_models, monkeypatch) -> None:
    monkeypatch.setenv(offered_models.VARIABLE, " gpt2 , ,/models/own ")
    assert offered_models.offered_models() == ["gpt2", "/models/own"]
    assert all(map(offered_models.is_offered, ("gpt2", "/models/own", catalogue.DEFAULT)))
    with pytest.raises(ValueError, match="no such folder"):
        traces.model("gpt2")
    assert requested_models == ["gpt2"]


def test_where_nothing_is_said_any_folder_may_be_opened(requested_models, monkeypatch) -> None:
    monkeypatch.delenv(offered_models.VARIABLE, raising=False)
    assert offered_models.is_free()
    with pytest.raises(ValueError, match="no such folder"):
        traces.model("/no/such/folder")
    assert requested_models == ["/no/such/folder"]
