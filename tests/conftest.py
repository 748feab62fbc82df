"""Shared settings of all tests: one thread, shapes checked at run time, hypothesis profiles."""

import os
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import jaxtyping
import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each dashboard and worker that a test starts compiles attnviz anew

# Shape annotations are checked in tests only; modules imported before this line would go unchecked. `config`,
# `checkpoint` and `device` read what others wrote, and are tested for how they refuse wrong types themselves. `layers`
# makes functions in each pass, and to have them checked takes twice as long as the pass itself.
_TENSORS = (
    "attention",
    "beam",
    "cache",
    "decoding",
    "dropout",
    "embedding",
    "from_torch",
    "masks",
    "one_token",
    "transformer",
)
# Each feature computes in a folder of its own.
_PACKAGE = Path(__file__).parents[1] / "attnviz"
_NUMBERS = [".".join(("attnviz", *path.relative_to(_PACKAGE).parts)) for path in _PACKAGE.rglob("numbers")]
_CHECKED = [
    *(f"attnviz.transformer.{name}" for name in _TENSORS),
    "attnviz.tracing",
    "attnviz.maps",
    "attnviz.analysis",
    *_NUMBERS,
]
install_import_hook(_CHECKED, "beartype.beartype")
# Folders whose tests all compare what was computed. A file elsewhere says so: `pytestmark = pytest.mark.computes`.
_COMPUTING = (
    "transformer", "tracing", "maps", "implementations", "models/toy", "analysis/heads", "analysis/site",
    "anatomy/numbers", "anatomy/implementations", "causes/numbers", "decoding/numbers", "decoding/reply",
    "heads/alignment/numbers", "masks/numbers",
)  # fmt: skip
_LONG = ("docs", "hostile", "server", "training", "websocket", "wheel")
# Where tests are about tensors; elsewhere a trace would take five times as long for what these have found already.
_ABOUT_TENSORS = (*_COMPUTING, "analysis", "models", "causes/corpus")

# Fixtures that tests of many folders ask for.
pytest_plugins = ("tests.fixtures.pages", "tests.fixtures.scripts")

import torch  # noqa: E402 - after the environment variable that it reads

torch.set_num_threads(1)  # two threads beside another busy process are many times slower than one

_CALM = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", max_examples=100, **_CALM)
settings.register_profile("thorough", max_examples=10_000, **_CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of computing folders, which `make test-portable` runs again without vector units. Put files that
    drive a browser first, then those that start processes: they take longest, and the last of them would keep one
    worker busy after the other is done.
    """
    for item in items:
        if _lies_in(item.path, _COMPUTING):
            item.add_marker(pytest.mark.computes)
    with_browser = {item.path for item in items if "browser" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: (item.path not in with_browser, not _lies_in(item.path, _LONG)))


@cache
def _lies_in(path: Path, folders: tuple[str, ...]) -> bool:
    """Whether a file of tests lies in one of these folders."""
    return any(path.is_relative_to(Path(__file__).parent / folder) for folder in folders)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name each browser test that was tried again (tests/browser/conftest.py), and the reason."""
    again = terminalreporter.stats.get("rerun", [])
    if again:
        terminalreporter.write_sep("=", f"tried again: {len(again)}")
    for report in again:
        terminalreporter.write_line(f"{report.nodeid}: {_reason(report)}")


def _reason(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join((crash.message if crash else report.longreprtext).split())[:300]


@pytest.fixture(scope="module", autouse=True)
def _shapes_checked_where_tensors_are(request: pytest.FixtureRequest) -> None:
    jaxtyping.config.update("jaxtyping_disable", not _lies_in(request.path, _ABOUT_TENSORS))


@pytest.fixture(autouse=True)
def _own_random_numbers():
    """Seed the global random numbers for each test, and restore them after it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_scan_for_components() -> Iterator[None]:
    """Let Streamlit look for components in installed packages once: AppTest would do so for each page, which takes two
    thirds of a page's time.
    """
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(params=["cpu", "cuda", "mps"])
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """Provide the CPU, then two fake devices, to tests of models that must hold on a GPU too."""
    from tests.fake_device import fake_device

    with nullcontext(torch.device("cpu")) if request.param == "cpu" else fake_device(request.param) as found:
        yield found


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Save a tiny decoder with a chat template, which pages and commands open by its folder."""
    from tests.models.huggingface.chat import chat_folder

    return str(chat_folder.save(tmp_path_factory.mktemp("chat") / "tiny-chat"))


@pytest.fixture(scope="session")
def browser():
    """One browser for every test that needs one: Playwright can be started only once in a process."""
    from playwright.sync_api import expect, sync_playwright

    from tests.browser import chromium

    expect.set_options(timeout=30_000)  # milliseconds: the machine may be busy
    with sync_playwright() as playwright:
        # Scripts of a page that is soon left are not worth optimizing: a page takes a twelfth less processor time.
        arguments = [*chromium.ARGUMENTS, "--js-flags=--no-opt"]
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=arguments)
        yield browser
        browser.close()
