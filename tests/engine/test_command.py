"""`python -m attnviz engine`: unusable arguments are refused in one sentence before anything starts."""

import importlib.util
import socket

import pytest

from attnviz.__main__ import main
from attnviz.engine.serving import EngineSettings, display_name, paths_of
from tests.each_case import each_case


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "gpt2", "--port", "0"], "--port must be a number from 1 to 65535, not 0."),
        (["--model", "gpt2", "--replicas", "0"], "--replicas must be a number from 1 to 1000, not 0."),
        (["--model", "gpt2", "--replicas", "3", "--most-replicas", "2"], "at least as large as --replicas (3), not 2"),
        (["--model", "gpt2", "--batch", "0"], "--batch must be 1 or more, not 0"),
        (["--model", "a/gpt2", "--model", "a-gpt2"], "Two of the engine's models would have the path 'a-gpt2'"),
        (["--model", "/nowhere/at/all", "--alone"], "/nowhere/at/all"),
        (["--model", "gpt2", "--host", "0.0.0.0", "--alone"], "without a token they can run the models"),
        (["--model", "gpt2", "--host", "engine.example"], "set ATTNVIZ_ENGINE_TOKEN"),
    ],
)
def test_what_cannot_be_is_said(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_without_ray_it_says_what_to_install(capsys: pytest.CaptureFixture[str]) -> None:
    if importlib.util.find_spec("ray") is not None:
        pytest.skip("Ray is installed here: `make test-cluster` starts it")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    assert main(["engine", "--model", "gpt2", "--port", port]) == 2
    assert "--group cluster, or start it with --alone" in capsys.readouterr().err


def test_a_port_that_is_taken_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["engine", "--model", "gpt2", "--port", str(port)]) == 2
        assert f"Port {port} of 127.0.0.1 cannot be opened" in capsys.readouterr().err


def test_nobody_is_told_where_a_folder_is(tmp_path) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    assert display_name(str(folder)) == "large"
    assert paths_of([str(folder), "org/gpt2"]) == {str(folder): "large", "org/gpt2": "org-gpt2"}


@each_case(("host", "token"), [("127.0.0.1", ""), ("::1", ""), ("localhost", ""), ("0.0.0.0", "secret")])
def test_an_engine_that_only_this_machine_reaches_needs_no_token(host: str, token: str) -> None:
    assert EngineSettings(["gpt2"], host=host, token=token).host == host


def test_a_token_is_not_printed() -> None:
    assert "secret" not in repr(EngineSettings(["gpt2"], token="secret"))
