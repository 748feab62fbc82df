"""One JupyterLab for all tests of this folder; each test has notebooks and pages of its own."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import chromium
from tests.jupyterlab.lab import Lab, OpenNotebook, running_lab

PATIENCE = 30_000  # milliseconds: the first cell loads torch and the model
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Provide a JupyterLab that answers."""
    if find_spec("jupyterlab") is None:
        pytest.skip("JupyterLab is not installed: make test-notebook")
    if chromium.find() is None:
        pytest.skip("no browser found: `make test` gets one where it can")
    with running_lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
def open_notebook(lab: Lab, browser: Browser) -> Iterator[Callable[..., OpenNotebook]]:
    """Open a notebook by its name, one that is written with the cells given, if any, in a page of a new visitor."""
    contexts = []

    def open_(name: str, *cells: str) -> OpenNotebook:
        if cells:
            lab.write(name, *cells)
        contexts.append(browser.new_context(viewport={"width": 1440, "height": 1600}, color_scheme="light"))
        contexts[-1].set_default_timeout(PATIENCE)
        return OpenNotebook(contexts[-1].new_page(), lab, name)

    yield open_
    for context in contexts:
        context.close()
