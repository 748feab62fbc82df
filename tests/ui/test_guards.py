"""The guards are set into Streamlit's own classes: another Streamlit that they do not fit is named in one sentence."""

import importlib
from pathlib import Path

import pytest
import streamlit

ROOT = Path(__file__).parents[2]
CLASSES = ("WStates", "MemoryUploadedFileManager", "NumberInputSerde", "AppSession")


@pytest.fixture
def guards():
    try:
        return importlib.import_module("attnviz.ui.guards")
    except ImportError as error:
        said = f"Streamlit {streamlit.__version__} has moved what attnviz/ui/guards.py uses: {error}."
        pytest.fail(said, pytrace=False)


def test_this_streamlit_has_all_that_the_guards_use(guards) -> None:
    if said := guards.missing():
        pytest.fail(said, pytrace=False)


@pytest.mark.parametrize(
    ("owner", "name"),
    [("AppSession", "_handle_clear_cache_request"), ("WStates", "__getitem__"), ("NumberInputSerde", "deserialize"),
     ("MemoryUploadedFileManager", "remove_session_files")],
)  # fmt: skip
def test_a_name_that_is_gone_is_said_in_one_sentence_and_nothing_is_set(guards, owner, name, monkeypatch) -> None:
    monkeypatch.delattr(getattr(guards, owner), name)
    with pytest.raises(RuntimeError) as error:
        guards.install()
    said = f"Streamlit {streamlit.__version__} has no {owner}.{name}: see to attnviz/ui/guards.py, which uses it."
    assert str(error.value) == said
    assert name not in vars(getattr(guards, owner))


def test_a_field_that_is_gone_is_missed_as_well(guards, monkeypatch) -> None:
    monkeypatch.setattr(guards.MemoryUploadedFileManager, "__init__", lambda files: None)
    assert "has no MemoryUploadedFileManager._total_bytes:" in guards.missing()


def test_one_file_alone_reaches_into_these_classes() -> None:
    reaching = {
        path.relative_to(ROOT).as_posix()
        for path in [*(ROOT / "attnviz").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
        if any(name in path.read_text(encoding="utf-8") for name in CLASSES)
    }
    assert reaching == {"attnviz/ui/guards.py"}
