"""One file reaches into Streamlit: another Streamlit that it does not fit is named in one sentence."""

import importlib
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit
from streamlit.elements.widgets.number_input import NumberInputSerde
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.NumberInput_pb2 import NumberInput as NumberInputProto
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates

from attnviz.app import streamlit_internals

ROOT = Path(__file__).parents[2]
CLASSES = ("WStates", "MemoryUploadedFileManager", "AppSession", "MediaFileManager")


@pytest.fixture
def internals():
    try:
        return importlib.import_module("attnviz.app.streamlit_internals")
    except ImportError as error:
        said = f"Streamlit {streamlit.__version__} has moved what attnviz/app/streamlit_internals.py uses: {error}."
        pytest.fail(said, pytrace=False)


def test_this_streamlit_has_all_that_we_reach_into(internals) -> None:
    if said := internals.missing_names():
        pytest.fail(said, pytrace=False)


@pytest.mark.parametrize(
    ("owner", "name"),
    [("AppSession", "_handle_clear_cache_request"), ("WStates", "__getitem__"),
     ("MemoryUploadedFileManager", "remove_session_files"), ("MediaFileManager", "_drop_deferred_id")],
)  # fmt: skip
def test_a_name_that_is_gone_is_said_in_one_sentence_and_nothing_is_set(internals, owner, name, monkeypatch) -> None:
    monkeypatch.delattr(getattr(internals, owner), name)
    with pytest.raises(RuntimeError) as error:
        internals.install()
    said = f"Streamlit {streamlit.__version__} has no {owner}.{name}"
    assert str(error.value) == f"{said}: change attnviz/app/streamlit_internals.py, which uses it."
    assert name not in vars(getattr(internals, owner))


def test_this_streamlit_has_all_that_a_server_for_many_uses(internals) -> None:
    if said := internals.missing_for_server():
        pytest.fail(said, pytrace=False)


def test_a_name_or_a_module_that_a_server_misses_is_said(internals, monkeypatch) -> None:
    from streamlit.web import bootstrap

    monkeypatch.delattr(bootstrap, "load_config_options")
    monkeypatch.setitem(internals._OF_SERVER, "no_such_module", ("name",))
    said = f"Streamlit {streamlit.__version__} has no web.bootstrap.load_config_options, no no_such_module.name"
    assert internals.missing_for_server() == f"{said}: change attnviz/app/streamlit_internals.py, which uses it."


def test_an_option_that_streamlit_does_not_take_is_said(internals) -> None:
    with pytest.raises(RuntimeError, match=r"did not take server.noSuchOption: change attnviz/app/streamlit_internals"):
        internals.set_options({"server.noSuchOption": 1})


def test_a_field_that_is_gone_is_missed_as_well(internals, monkeypatch) -> None:
    monkeypatch.setattr(internals.MemoryUploadedFileManager, "__init__", lambda files: None)
    assert "has no MemoryUploadedFileManager._total_bytes:" in internals.missing_names()


@pytest.fixture
def saving(internals, monkeypatch):
    """Streamlit's keeper of files, a clock, and whose run it is."""
    from streamlit.runtime import media_file_manager
    from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

    internals.install()
    saving = SimpleNamespace(
        files=media_file_manager.MediaFileManager(MemoryMediaFileStorage("/media")), now=0.0, who=""
    )
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: saving.who)
    monkeypatch.setattr(streamlit_internals.time, "monotonic", lambda: saving.now)
    return saving


def another_runs(saving, times: int = 3) -> None:
    saving.who = "another"
    for _ in range(times):
        saving.files.clear_session_refs()
        saving.files.remove_orphaned_files()


@pytest.mark.parametrize(
    ("asked", "is_whole"),
    [
        ({"fragment_id": "gone"}, True),
        ({"fragment_id": "here"}, False),
        ({"fragment_id": "gone", "is_auto_rerun": True}, False),
    ],
)
def test_a_choice_in_a_fragment_that_a_restart_took_away_runs_the_page(internals, asked, is_whole) -> None:
    asked, heard = ClientState(query_string="layer=2", **asked), []
    session = SimpleNamespace(has_fragment=lambda name: name == "here")
    internals.run_page_without_fragment(lambda _session, asked: heard.append(asked))(session, asked)
    assert [(one.query_string, not one.fragment_id) for one in heard] == [("layer=2", is_whole)]


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


def test_what_no_page_offers_any_more_is_forgotten_after_a_while(internals, saving) -> None:
    saving.who = "one"
    button = saving.files.add_deferred(lambda: b"a,b", "text/csv", "1.2.3")
    address = saving.files.execute_deferred(button)
    saving.files.clear_session_refs()
    for _ in range(2):
        saving.now += streamlit_internals.KEPT
        another_runs(saving)
    assert saving.files.read_file(Path(address).stem) is None
    with pytest.raises(Exception, match="not found"):
        saving.files.execute_deferred(button)


@pytest.mark.parametrize("sent", [float("inf"), float("nan")])
def test_a_number_that_is_not_finite_counts_as_not_sent(internals, sent: float) -> None:
    internals.install()
    number = NumberInputSerde(None, NumberInputProto.INT, 0, 5)
    states = WStates()
    states.set_widget_metadata(WidgetMetadata("number", number.deserialize, number.serialize, "double_value"))
    for said, found in ((3.0, 3), (sent, None)):
        states.set_widget_from_proto(WidgetState(id="number", double_value=said))
        assert states.get("number") == found


def test_one_file_alone_reaches_into_these_classes() -> None:
    reaching = {
        path.relative_to(ROOT).as_posix()
        for path in [*(ROOT / "attnviz").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
        if any(name in path.read_text(encoding="utf-8") for name in CLASSES)
    }
    assert reaching == {"attnviz/app/streamlit_internals.py"}


CHANGED = (
    "Streamlit has changed {}: see attnviz/app/streamlit_internals.py and the section on the address in "
    "docs/developing/how-it-works.md, then run tests/browser/test_address.py."
)
# Streamlit's frontend, as it is installed: its scripts are one text here.
SCRIPTS = Path(streamlit.__file__).parent / "static" / "static" / "js"


def test_the_browser_still_pushes_an_address_and_writes_over_it_on_back() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SCRIPTS.glob("index.*.js")]
    for word in ("isHistoryNavigation", "historyNavigationEpoch", "history.pushState", "history.replaceState"):
        assert any(word in text for text in texts), CHANGED.format("how it tells Back and Forward from other runs")


def test_streamlit_still_names_what_our_styles_and_scripts_look_for() -> None:
    """Parts of its page are found by `data-testid`: one that is gone would leave a style or a script without effect."""
    ours = [*(ROOT / "assets").rglob("*.css"), *(ROOT / "attnviz").rglob("*.css"), *(ROOT / "attnviz").rglob("*.js")]
    wanted = {
        name for path in ours for name in re.findall(r"data-testid=[\"']?(\w+)", path.read_text(encoding="utf-8"))
    }
    assert len(wanted) > 5
    frontend = b"".join(path.read_bytes() for path in SCRIPTS.glob("*.js"))
    gone = sorted(name for name in wanted if name.encode() not in frontend)
    assert not gone, f"Streamlit {streamlit.__version__} has no {', no '.join(gone)}: change the styles that name it."
