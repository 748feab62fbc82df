"""Wait until a page has been drawn, and until a picture has found its place."""

from itertools import combinations

from playwright.sync_api import Locator, Page, expect

SETTLED = "[data-testid='stApp'][data-test-script-state='notRunning'][data-test-connection-state='CONNECTED']"

# A picture looks at its place again some moments after it was drawn, the last time after more than a second. A window
# that says that it was resized makes it look at once.
AT_REST = """(root) => new Promise((done) => {
  let [before, calm] = ["", 0];
  const look = () => {
    window.dispatchEvent(new Event("resize"));
    const now = JSON.stringify(root.getBoundingClientRect());
    calm = now === before ? calm + 1 : 0;
    before = now;
    if (calm === 5) done();
    else setTimeout(look, 50);
  };
  look();
})"""


def wait_in_page(page: Page, milliseconds: int) -> None:
    """Return after this time by the page's own clock: every timer that was set before, and is shorter, has run."""
    page.evaluate("(milliseconds) => new Promise((done) => setTimeout(done, milliseconds))", milliseconds)


def wait_until_settled(page: Page) -> None:
    """Return once the page is connected, its script has run without an exception, and words are explained."""
    page.locator(SETTLED).wait_for(state="attached")  # behind a presented picture it is hidden
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.locator(".definitions[data-hears]")).to_have_count(1)


def wait_until_at_rest(picture: Locator) -> None:
    """Return once the picture has had the same place for a quarter of a second."""
    picture.evaluate(AT_REST)


def lie_apart(boxes: list[dict]) -> None:
    """Require that no two boxes on the screen overlap by more than a pixel."""
    for one, other in combinations(boxes, 2):
        across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
        down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
        assert min(across, down) <= 1, (one, other)
