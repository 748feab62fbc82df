"""One cluster of two fronts for all tests of this folder, and visitors with a browser."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser import chromium
from tests.cluster import proxies
from tests.cluster.running import RunningCluster, running_cluster

# One address asks here for all visitors, faster than people do.
UNBOUND = {
    "ATTNVIZ_SESSION_RATE": "1000", "ATTNVIZ_SESSION_BURST": "1000",
    "ATTNVIZ_ADDRESS_RATE": "10000", "ATTNVIZ_ADDRESS_BURST": "10000",
}  # fmt: skip
PATIENCE = 60_000  # milliseconds


@pytest.fixture(scope="session")
def haproxy() -> str:
    """HAProxy's path."""
    return proxies.find("haproxy") or pytest.skip("HAProxy is not installed: apt-get install haproxy")


@pytest.fixture(scope="session")
def nginx() -> str:
    """nginx's path."""
    return proxies.find("nginx") or pytest.skip("nginx is not installed: apt-get install nginx")


@pytest.fixture(scope="session")
def cluster(haproxy: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    """Two fronts that are ready."""
    login = {"ATTNVIZ_LOGIN": "none"}
    with running_cluster(tmp_path_factory.mktemp("cluster") / "log", 2, UNBOUND | login) as running:
        yield running


@pytest.fixture
def visitor(cluster: RunningCluster, request: pytest.FixtureRequest) -> Iterator[Callable[[str], BrowserContext]]:
    """Make visitors of a front, by its name: contexts that share nothing."""
    if chromium.find() is None:
        pytest.skip("no browser found: `make test` gets one where it can")
    browser: Browser = request.getfixturevalue("browser")
    contexts: list[BrowserContext] = []

    def make(front: str) -> BrowserContext:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=cluster.address)
        context.set_default_timeout(PATIENCE)
        context.add_cookies([{"name": "attnviz_front", "value": front, "url": cluster.address}])
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()
