"""Widgets as components of Streamlit: the scripts are written once, whoever comes first."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Barrier

import pytest

from attnviz.app import components

VISITORS = 8


class Manager:
    """Streamlit's manager of components, which here only keeps the folders that it is told."""

    def __init__(self) -> None:
        self.folders: list[Path] = []

    def get_component_asset_root(self, name: str) -> Path | None:
        return self.folders[-1] if self.folders else None

    def register_from_manifest(self, manifest: object, folder: Path) -> None:
        self.folders.append(folder)


def test_visitors_who_come_at_once_to_a_new_server_write_the_scripts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    manager, together = Manager(), Barrier(VISITORS)
    monkeypatch.setattr(components.streamlit_internals, "has_server", lambda: True)
    monkeypatch.setattr(components, "get_bidi_component_manager", lambda: manager)
    monkeypatch.setattr(components, "component", lambda name, **_: name)
    for name in ("_component", "_folder", "_temporary"):  # as in a process that has drawn nothing yet
        monkeypatch.setattr(components, name, cache(getattr(components, name).__wrapped__))

    def come(_: int) -> object:
        together.wait()
        return components.widget("heads")

    with ThreadPoolExecutor(VISITORS) as visitors:
        assert list(visitors.map(come, range(VISITORS))) == ["attnviz.heads"] * VISITORS
    (folder,) = manager.folders
    assert list(folder.glob("scripts/heads-*.js"))
    components._temporary().cleanup()
