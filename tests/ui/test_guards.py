"""The guards are set into Streamlit's own classes: another Streamlit that they do not fit is named in one sentence."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit

ROOT = Path(__file__).parents[2]
CLASSES = ("WStates", "MemoryUploadedFileManager", "NumberInputSerde", "AppSession", "MediaFileManager")


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
     ("MemoryUploadedFileManager", "remove_session_files"), ("MediaFileManager", "_drop_deferred_id")],
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


@pytest.fixture
def saving(guards, monkeypatch):
    """Streamlit's keeper of files, a clock, and whose run it is."""
    from streamlit.runtime import media_file_manager
    from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

    guards.install()
    saving = SimpleNamespace(
        files=media_file_manager.MediaFileManager(MemoryMediaFileStorage("/media")), now=0.0, who=""
    )
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: saving.who)
    monkeypatch.setattr(guards.time, "monotonic", lambda: saving.now)
    return saving


def another_runs(saving, times: int = 3) -> None:
    saving.who = "another"
    for _ in range(times):
        saving.files.clear_session_refs()
        saving.files.remove_orphaned_files()


def test_what_a_button_saves_is_there_while_its_page_and_others_run(saving) -> None:
    saving.who = "one"
    button = saving.files.add_deferred(lambda: b"a,b", "text/csv", "1.2.3")
    another_runs(saving)
    saving.who = "one"
    saving.files.clear_session_refs()  # the page begins to run, and the button is still seen
    another_runs(saving)
    address = saving.files.execute_deferred(button)
    another_runs(saving)  # before the browser asks for the file
    saved = saving.files.read_file(Path(address).stem)
    assert saved is not None
    assert saved.content == b"a,b"


def test_what_no_page_offers_any_more_is_forgotten_after_a_while(guards, saving) -> None:
    saving.who = "one"
    button = saving.files.add_deferred(lambda: b"a,b", "text/csv", "1.2.3")
    address = saving.files.execute_deferred(button)
    saving.files.clear_session_refs()
    for _ in range(2):
        saving.now += guards.KEPT
        another_runs(saving)
    assert saving.files.read_file(Path(address).stem) is None
    with pytest.raises(Exception, match="not found"):
        saving.files.execute_deferred(button)


def test_one_file_alone_reaches_into_these_classes() -> None:
    reaching = {
        path.relative_to(ROOT).as_posix()
        for path in [*(ROOT / "attnviz").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
        if any(name in path.read_text(encoding="utf-8") for name in CLASSES)
    }
    assert reaching == {"attnviz/ui/guards.py"}
