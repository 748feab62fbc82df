"""JupyterLab as a process of its own, whose settings and notebooks lie in a folder of the test."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.server import ROOT, free_port

_SETTINGS = {  # of JupyterLab, by plugin
    "@jupyter-widgets/jupyterlab-manager/plugin": {"saveState": True},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that answers, and the folder of its notebooks."""

    address: str
    folder: Path

    def write(self, name: str, *cells: str) -> None:
        """Write a notebook of code cells."""
        code = [
            {
                "cell_type": "code", "id": f"cell-{at}", "metadata": {}, "source": source,
                "outputs": [], "execution_count": None,
            }
            for at, source in enumerate(cells)
        ]  # fmt: skip
        made = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": _KERNEL}, "cells": code}
        (self.folder / name).write_text(json.dumps(made), encoding="utf-8")

    def read(self, name: str) -> dict[str, Any]:
        """Read a notebook as it is saved."""
        return json.loads((self.folder / name).read_text(encoding="utf-8"))


@contextmanager
def running_lab(folder: Path) -> Iterator[Lab]:
    """Run JupyterLab until the block ends. Raises RuntimeError with what it printed where it does not start."""
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    lab = {f"JUPYTERLAB_{name}_DIR": str(folder / name.lower()) for name in ("SETTINGS", "WORKSPACES")}
    for plugin, settings in _SETTINGS.items():
        file = folder / "settings" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), encoding="utf-8")
    (folder / "notebooks").mkdir()
    port = free_port()
    options = (
        "--no-browser", "--allow-root", f"--port={port}", "--port-retries=0", "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder / 'notebooks'}",
    )  # fmt: skip
    environment = os.environ | own | lab | {"IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": str(ROOT)}
    log = folder / "jupyterlab.log"
    with log.open("w", encoding="utf-8") as out:
        server = subprocess.Popen(
            (sys.executable, "-m", "jupyterlab", *options), env=environment, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        _wait(server, f"http://127.0.0.1:{port}", log)
        yield Lab(f"http://127.0.0.1:{port}", folder / "notebooks")
    finally:
        server.terminate()
        server.wait(timeout=60)


def _wait(server: subprocess.Popen, address: str, log: Path) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}")


class OpenNotebook:
    """A notebook in a page of JupyterLab, driven by clicks and keys."""

    def __init__(self, page: Page, lab: Lab, name: str) -> None:
        self.page = page
        page.goto(f"{lab.address}/lab/tree/{name}?reset")
        expect(page.locator(".jp-Notebook .jp-Cell").first).to_be_visible()
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()

    def run(self, *cells: int) -> None:
        """Run cells, one after another, until each has its number."""
        for at in cells:
            cell = self.cell(at)
            cell.locator(".cm-content").first.click()
            before = self.number(at)
            self.page.keyboard.press("Control+Enter")
            expect(cell.locator(".jp-InputPrompt")).not_to_have_text(before)
            expect(cell.locator(".jp-InputPrompt")).not_to_have_text("[*]:")

    def run_until(self, at: int, text: str) -> None:
        """Run a cell until it prints a text: Python hears of a choice a moment after it is made."""
        for _ in range(20):
            self.run(at)
            if self.text(at).text_content() == text + "\n":
                return
        expect(self.text(at)).to_have_text(text)

    def number(self, at: int) -> str:
        """Return what stands beside a cell, such as [3]:."""
        return self.cell(at).locator(".jp-InputPrompt").text_content() or ""

    def cell(self, at: int) -> Locator:
        """Return a cell, by its place."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(at)

    def text(self, at: int) -> Locator:
        """Return what a cell printed."""
        return self.cell(at).locator(".jp-OutputArea-output pre")

    def picture(self, at: int) -> Locator:
        """Return the picture that a cell shows, once it is painted."""
        return self.cell(at).locator("[data-attnviz-painted]")
