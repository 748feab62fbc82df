"""An installed wheel has model, commands and dashboard, from any folder, offline."""

import json
import subprocess
import time
import tomllib
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

import attnviz
from tests.browser.served.process import status
from tests.browser.server import free_port
from tests.each_case import each_case
from tests.websocket.visitor import Visitor
from tests.wheel.conftest import ROOT, Installed, build_wheel

MOST = 30_000_000  # bytes
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
TRACED = """
import json, attnviz
trace = attnviz.load().trace("I love you.", to="fr")
print(json.dumps([attnviz.__file__, trace.tgt_text, list(trace.attn("cross").shape)]))
"""


def test_the_wheel_is_small_and_built_alike_each_time(wheel: Path, tmp_path: Path) -> None:
    assert wheel.stat().st_size <= MOST
    assert build_wheel(tmp_path).read_bytes() == wheel.read_bytes()
    assert wheel.name == f"attnviz-{attnviz.__version__}-py3-none-any.whl"


def test_an_installation_loads_and_traces_without_a_network(installed: Installed) -> None:
    ran = installed.run("python", "-c", TRACED)
    assert ran.returncode == 0, ran.stderr
    file, text, shape = json.loads(ran.stdout)
    assert Path(file).is_relative_to(installed.packages)
    assert text == "Je t'aime."
    assert shape[:2] == [3, 8]


def test_the_command_traces_into_a_file(installed: Installed, tmp_path: Path) -> None:
    out = tmp_path / "love.npz"
    ran = installed.run("attnviz", "trace", "I love you.", "--to", "fr", "--out", str(out))
    assert ran.returncode == 0, ran.stderr
    assert attnviz.load_trace(out).tgt_text == "Je t'aime."


SHOWN = """
import sys, attnviz
trace = attnviz.load().trace("I love you.", to="fr")
trace.to_html(sys.argv[1])
print(attnviz.show(trace, layer=2, head=5).head)
sys.modules["anywidget"] = None
for name in [name for name in sys.modules if name.startswith("attnviz.hosts.notebook")]:
    del sys.modules[name]
try:
    attnviz.show(trace)
except ValueError as error:
    print(error)
"""
HELPED = """
import sys
from contextlib import suppress
sys.argv[0] = "attnviz"
from attnviz.__main__ import main
for command in sys.argv[1:]:
    with suppress(SystemExit):
        main([command, "--help"])
"""
COMMANDS = ("run", "serve", "cluster", "engine", "translate", "trace", "steps", "learn", "lessons")


def test_an_installation_shows_and_writes_a_picture_and_leaves_no_file_where_it_runs(
    installed: Installed, tmp_path: Path
) -> None:
    ran = installed.run("python", "-c", SHOWN, str(tmp_path / "love.html"))
    assert ran.returncode == 0, ran.stderr
    head, missing = ran.stdout.splitlines()
    assert head == "('cross', 2, 5)"
    assert "needs anywidget: pip install 'attnviz[notebook]'" in missing
    assert (tmp_path / "love.html").stat().st_size > 100_000
    assert list(installed.home.iterdir()) == []  # read-only, which does not bind root


def test_every_command_is_installed(installed: Installed) -> None:
    ran = installed.run("python", "-c", HELPED, *COMMANDS)
    assert (ran.returncode, ran.stderr) == (0, "")
    for command in COMMANDS:
        assert f"usage: attnviz {command} " in ran.stdout


def test_the_dashboard_runs_from_an_installation(installed: Installed, tmp_path: Path) -> None:
    port = free_port()
    log = tmp_path / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            installed.command("attnviz", "run", "--no-browser", "--port", str(port)),
            cwd=installed.home, env=installed.variables, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 60
        while "?token=" not in log.read_text(encoding="utf-8") or status(f"{address}/_stcore/health") != 200:
            assert time.monotonic() < until, log.read_text(encoding="utf-8")
            assert process.poll() is None, log.read_text(encoding="utf-8")
            time.sleep(0.1)
        token = log.read_text(encoding="utf-8").rpartition("?token=")[2].strip()
        with Visitor(address, headers={"Cookie": f"attnviz_{port}={token}"}) as visitor:
            shown = visitor.open("heads", {"src": "I love you.", "to": "fr"})
        assert shown.exceptions == []
        assert "heads" in shown.widgets
    finally:
        subprocess.run(("kill", "--", f"-{process.pid}"), check=False)
        process.wait()


def test_an_installation_without_its_files_says_so(installed: Installed) -> None:
    app = installed.packages / "attnviz" / "_app"
    app.rename(app.with_name("_gone"))
    try:
        ran = installed.run("attnviz", "translate", "--to", "fr")
    finally:
        app.with_name("_gone").rename(app)
    assert ran.returncode == 2
    assert "attnviz is installed without its files: " in ran.stderr
    assert ran.stderr.count("\n") == 1


@each_case(
    ("library", "extra", "arguments"),
    [
        ("streamlit", "app", "['run']"),
        ("yaml", "app", "['lessons', 'check', 'x.md']"),
        ("aiolimiter", "serve", "['serve']"),
        ("ray", "cluster", "['engine', '--model', 'translator-en-de-es-fr-zh']"),
        ("transformers", "huggingface", "['trace', 'Hi', '--model', 'gpt2', '--out', 'x.npz']"),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_command(
    library: str, extra: str, arguments: str, installed: Installed
) -> None:
    main = f"from attnviz.__main__ import main; sys.exit(main({arguments}))"
    ran = installed.run("python", "-c", f"import sys; sys.modules[{library!r}] = None; {main}")
    assert f"needs {library}: pip install 'attnviz[{extra}]'" in ran.stderr
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)


def requirements() -> dict[str, list[Requirement]]:
    """Return what the wheel asks for, by the name of the package, of itself and of all its extras."""
    found: dict[str, list[Requirement]] = {}
    for line in chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        one = Requirement(line)
        found.setdefault(one.name.lower(), []).append(one)
    return found


def pins() -> list[Requirement]:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    groups = PYPROJECT["dependency-groups"]
    texts = [line for line in lines if line and line[0] != "#"]
    texts += chain.from_iterable(groups[name] for name in ("serve", "cluster", "train", "notebook", "gguf"))
    return [Requirement(text) for text in texts]


@each_case("pin", pins(), ids=lambda pin: pin.name)
def test_each_pin_lies_in_the_range_of_the_wheel(pin: Requirement) -> None:
    (exact,) = pin.specifier
    assert exact.operator == "=="
    for asked in requirements()[pin.name.lower()]:
        assert asked.specifier.contains(exact.version), f"{asked} of pyproject.toml"


def test_what_the_wheel_asks_for_is_pinned() -> None:
    assert requirements().keys() - {"attnviz"} == {pin.name.lower() for pin in pins()}
    assert version("streamlit").startswith("1.67.")
