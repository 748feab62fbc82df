"""A dashboard of the walk's own, which offers an encoder and a decoder besides the shipped translator."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import BrowserContext

from tests.browser import server
from tests.browser.walk.report import Report
from tests.browser.walk.visitor import Visitor
from tests.models.huggingface import checkpoints

SEED = int(os.environ.get("ATTNVIZ_WALK_SEED", "14"))


@dataclass
class Ground:
    """The place of a walk: the dashboard's address, its models, and the report."""

    address: str
    encoder: str
    decoder: str
    report: Report
    visitor: Callable[[], Visitor]

    def link_to(self, page: str, model: str = "") -> str:
        """Return the address of a page on a model."""
        return f"/{page}?model={quote(model, safe='')}" if model else f"/{page}"


@pytest.fixture(scope="session")
def offered_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders of a small encoder and a small decoder."""
    folder = tmp_path_factory.mktemp("offered")
    return {name: str(checkpoints.save(folder / name, checkpoints.ALL[name])) for name in ("bert", "gpt2")}


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Make files of own tensors: weights that can be read, and a file that cannot."""
    folder = tmp_path_factory.mktemp("handed-in")
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 3, 5)).astype(np.float32)
    np.savez(folder / "weights.npz", attn=weights, tokens=np.array(["a", "b", "c", "d", "e"]))
    (folder / "nonsense.npz").write_bytes(b"PK\x03\x04 nonsense")
    return {path.name: str(path) for path in folder.iterdir()}


@pytest.fixture
def ground(
    visitor: Callable[..., BrowserContext], offered_folders: dict[str, str], files: dict[str, str], tmp_path: Path
) -> Iterator[Ground]:
    """Provide a dashboard to walk over; the test fails at the end with all that went wrong."""
    log = tmp_path / "dashboard.log"
    report = Report(tmp_path, log, SEED)
    made: list[Visitor] = []
    environment = {
        "ATTNVIZ_MODELS": ",".join(offered_folders.values()),
        "OMP_WAIT_POLICY": "passive",
        "STREAMLIT_LOGGER_ENABLE_RICH": "false",
    }
    with server.dashboard(log, environment) as address:

        def come() -> Visitor:
            made.append(Visitor(len(made), visitor(base_url=address), report, files))
            return made[-1]

        yield Ground(address, offered_folders["bert"], offered_folders["gpt2"], report, come)
        for one in made:
            one.page.context.close()
    assert not report.failures, str(report)
