"""A widget's script is fetched apart from its data, and drawing waits for it wherever it is needed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from attnviz.hosts import registry
from attnviz.kit.bundle import source
from tests.browser import server
from tests.browser.at_rest import wait_in_page

LINK = "/heads?src=I+love+you.&to=fr&kind=cross&layer=1&head=3"
SCRIPT = len(source(registry.widget("heads")).script)


def painted_pictures(page: Page) -> Locator:
    return page.locator("[data-attnviz-painted]:not([data-attnviz-painted=''])")


@pytest.fixture
def page(visitor: Callable[..., BrowserContext]) -> Page:
    """Open a page in a browser that has no script cached."""
    return visitor().new_page()


@pytest.fixture
def received_frames(page: Page) -> list[bytes]:
    """Provide what the page's websocket has brought so far, a message each."""
    messages: list[bytes] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: messages.append(as_bytes(frame))))
    return messages


@pytest.fixture
def requested_scripts(page: Page) -> list[str]:
    """Provide the addresses of scripts that the page has asked for so far."""
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url) if request.resource_type == "script" else None)
    return addresses


def as_bytes(frame: str | bytes) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()


def run_sentence(page: Page, settle: Callable, sentence: str) -> None:
    field = page.get_by_label("Source sentence")
    field.fill(sentence)
    field.press("Enter")
    expect(painted_pictures(page)).to_contain_text(sentence.rstrip(".").split()[-1])
    settle(page)


def test_a_script_is_fetched_once_and_never_sent_with_an_answer(
    page: Page, settle: Callable, received_frames: list[bytes], requested_scripts: list[str]
) -> None:
    page.goto(LINK)
    expect(painted_pictures(page)).to_be_visible()
    settle(page)
    for sentence in ("We love music.", "The cat is sleeping on the table."):
        received_frames.clear()
        run_sentence(page, settle, sentence)
        assert 5_000 < sum(map(len, received_frames)) < 0.7 * SCRIPT
    assert not any(b"function paintOverview(app)" in message for message in received_frames)
    assert sum("/attnviz.heads/" in address for address in requested_scripts) == 1


def test_a_page_that_is_reloaded_or_left_and_opened_again_still_draws(page: Page, settle: Callable) -> None:
    page.goto(LINK)
    expect(painted_pictures(page)).to_contain_text("L1 H3")
    page.reload()
    expect(painted_pictures(page)).to_contain_text("L1 H3")
    for _ in range(2):
        page.get_by_role("link", name="Masks").first.click()
        expect(page.locator(".lab[data-attnviz-painted]")).to_be_visible()
        page.get_by_role("link", name="Anatomy").first.click()
        expect(painted_pictures(page)).to_have_count(0)
        settle(page)
        page.get_by_role("link", name="Heads").first.click()
        expect(painted_pictures(page)).to_contain_text("love")
        settle(page)
    run_sentence(page, settle, "We love music.")


@pytest.fixture(scope="module")
def three_widgets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("widgets") / "app.log"
    environment = {"PYTHONPATH": str(server.ROOT), "OMP_WAIT_POLICY": "passive"}
    with server.dashboard(Path(log), environment, script="tests/browser/three_widgets.py") as address:
        yield address


def test_widgets_of_one_page_share_a_script_and_keep_their_own_styles(
    page: Page, three_widgets: str, requested_scripts: list[str]
) -> None:
    page.goto(three_widgets)
    expect(painted_pictures(page)).to_have_count(3)
    first, second, links = page.locator("[data-attnviz-painted]").evaluate_all("""nodes => {
      const sheets = nodes.map((node) => node.getRootNode().adoptedStyleSheets);
      return sheets.map(([own]) => sheets.map(([other]) => own === other));
    }""")
    assert first == second == [True, True, False]
    assert links == [False, False, True]
    expect(page.locator(".avz.links canvas").first).to_be_visible()
    assert sum("/attnviz.heads/" in address for address in requested_scripts) == 1


def test_each_widget_of_a_page_follows_new_data_and_the_window(page: Page, three_widgets: str) -> None:
    page.goto(three_widgets)
    expect(painted_pictures(page)).to_have_count(3)
    before = [node.get_attribute("data-attnviz-painted") for node in painted_pictures(page).all()]
    field = page.get_by_label("tokens", exact=True)
    field.fill("9")
    field.press("Enter")
    for at, name in enumerate(before):
        expect(painted_pictures(page).nth(at)).not_to_have_attribute("data-attnviz-painted", name or "")
    wait_in_page(page, 1500)  # a widget looks at its place once more a moment after it was drawn
    painted_pictures(page).evaluate_all("""nodes => nodes.forEach(({ attnviz }) => {
      const { fit } = attnviz.widget;
      attnviz.widget = { ...attnviz.widget, fit: (app) => ((app.root.dataset.fitted = "again"), fit(app)) };
    })""")
    page.set_viewport_size({"width": 1440, "height": 1000})
    expect(page.locator("[data-fitted]")).to_have_count(3)
