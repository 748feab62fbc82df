"""What `attnviz run` cannot start with is said in one sentence, before anything is started."""

import socket
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from attnviz import extras, places
from attnviz.__main__ import main

ROOT = Path(__file__).parents[2]
OTHER = "The dashboard needs Streamlit 1.67, and 1.70.1 is installed: pip install 'streamlit==1.67.*'."


@pytest.fixture(autouse=True)
def _nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("the dashboard was started")

    monkeypatch.setattr("attnviz.server.session.run", refuse)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["run", *arguments]) == 2
    return capsys.readouterr().err


def test_a_taken_port_is_said(capsys) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert said(capsys, "--port", str(port)) == (
            f"attnviz: Port {port} of 127.0.0.1 cannot be listened on: Address already in use.\n"
        )


def test_a_number_that_is_no_port_is_said(capsys) -> None:
    assert said(capsys, "--port", "70000") == "attnviz: A port must be a number from 1 to 65535, not 70000.\n"


@pytest.mark.parametrize("name", ["APP", "ASSETS"])
def test_an_installation_without_its_files_is_said(name: str, capsys, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(places, name, tmp_path)
    sentence = said(capsys)
    assert sentence.startswith(f"attnviz: attnviz is installed without its files: {tmp_path}/")
    assert sentence.count("\n") == 1


def test_another_streamlit_is_said(capsys, monkeypatch) -> None:
    monkeypatch.setattr(extras, "version", lambda name: "1.70.1")
    assert said(capsys) == f"attnviz: {OTHER}\n"


def test_another_streamlit_is_said_however_a_page_is_started() -> None:
    script = "from attnviz import extras; extras.version = lambda name: '1.70.1'; import attnviz.app.layout"
    ran = subprocess.run((sys.executable, "-c", script), cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stderr.splitlines()[-1] == f"attnviz.extras.MissingExtraError: {OTHER}"


def test_the_named_streamlit_is_the_one_that_is_installed_and_asked_for() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (asked,) = [Requirement(line.split('"')[1]) for line in text.splitlines() if line.strip().startswith('"streamlit')]
    assert version("streamlit").startswith(f"{extras.STREAMLIT}.")
    last, following = f"{extras.STREAMLIT}.99", Version(extras.STREAMLIT).minor + 1
    assert asked.specifier.contains(last)
    assert not asked.specifier.contains(f"1.{following}")
