"""What the address needs of Streamlit beyond what it promises: one sentence says what to look at when it changes."""

import dataclasses
from pathlib import Path

import streamlit
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

CHECK = (
    "Streamlit has changed how it tells Back and Forward from other runs: see attnviz/ui/address/history.py and the "
    "section on the address in docs/architecture.md, then run tests/browser/test_address.py."
)


def test_streamlit_still_says_which_runs_back_and_forward_asked_for() -> None:
    assert "is_history_navigation" in {field.name for field in dataclasses.fields(ScriptRunContext)}, CHECK


def test_the_browser_still_pushes_an_address_and_writes_over_it_on_back() -> None:
    scripts = (Path(streamlit.__file__).parent / "static/static/js").glob("index.*.js")
    texts = [path.read_text(encoding="utf-8") for path in scripts]
    for word in ("isHistoryNavigation", "historyNavigationEpoch", "history.pushState", "history.replaceState"):
        assert any(word in text for text in texts), CHECK
