"""A picture widget on a page of plain HTML: no Streamlit, a host of a few lines, the Content-Security-Policy of a
shared server, and a place that would move what is `fixed`, as a notebook's cell does.
"""

import base64
from typing import Any

from playwright.sync_api import Locator, Page

from attnviz.kit.bundle import PACKAGE, Source, join_modules
from attnviz.kit.wire import Payload
from attnviz.server.headers import policy
from attnviz.server.settings import Settings
from tests.browser.at_rest import wait_in_page

# A page's own header may say what `frame-ancestors` are, its text may not.
POLICY = policy(Settings(), ()).partition("; frame-ancestors")[0]
PAGE = f"""<!doctype html><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<body style="margin: 0"><input aria-label="outside">
<div id="cell" style="margin: 30px 40px; contain: paint; width: 1240px"><div id="place"></div></div>"""
WHOLE_PAGE = f"""<!doctype html><meta http-equiv="Content-Security-Policy" content="{POLICY}">
<body style="margin: 0; padding: 60px 16px 0"><div id="cell"><div id="place"></div></div>"""
SET_UP = """([html, style, data, isWhole]) => {
  const place = document.querySelector("#place");
  const shadow = place.attachShadow({ mode: "open" });
  shadow.innerHTML = html;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  shadow.adoptedStyleSheets = [sheet];
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const odd = new Uint8Array(bytes.length + 1); // as bytes come inside a message
  odd.set(bytes, 1);
  const bare = { height: 640, reports: [], violations: [], root: shadow.querySelector("[lang=und]") };
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    bare.violations.push([violatedDirective, blockedURI]));
  const host = { report: (...told) => bare.reports.push(told), height: () => bare.height };
  if (isWhole) Object.assign(host, { height: (_, least) => Math.max(least, innerHeight - 104), keys: document });
  bare.attach = (view) => {
    bare.detach = draw.default({ parentElement: shadow, data: new DataView(odd.buffer, 1), host, view });
  };
  globalThis.bare = bare;
}"""
# In a task of its own: what the browser's driver calls may use `eval` against the policy.
ATTACH = """(view) => new Promise((done, fail) => setTimeout(() => {
  try {
    done(bare.attach(view));
  } catch (error) {
    fail(error);
  }
}))"""
THEMES = join_modules(PACKAGE / "kit/js/hosts/themes.js")


class BarePage:
    """The page, with what is done to the widget on it."""

    def __init__(self, page: Page, source: Source, payload: Payload, *, is_whole: bool = False) -> None:
        """Draw the page. If the widget `is_whole`, it is as wide and high as the window leaves room, and hears the keys
        of the page, as on a page of Streamlit's.
        """
        self.page = page
        page.set_viewport_size({"width": 1320, "height": 900})
        page.emulate_media(color_scheme="light")
        page.mouse.move(0, 0)
        page.goto("about:blank")
        page.set_content(WHOLE_PAGE if is_whole else PAGE)
        page.evaluate(f"() => {{ globalThis.draw = {source.module}; globalThis.themes = {THEMES}; }}")
        page.evaluate(SET_UP, [source.html, source.style, base64.b64encode(payload.pack()).decode(), is_whole])

    @property
    def root(self) -> Locator:
        """The widget's own element."""
        return self.page.locator("#place [lang=und]")

    def attach(self, view: dict[str, Any] | None = None) -> None:
        """Draw the widget, and wait until it is painted."""
        self.page.evaluate(ATTACH, view)
        self.page.locator("#place [data-attnviz-painted]").wait_for()

    def detach(self) -> None:
        """Do what the widget returned for its end, and take its place out of the page and back into it."""
        self.page.evaluate("""() => {
          bare.detach();
          const place = document.querySelector("#place");
          place.remove();
          document.querySelector("#cell").append(place);
        }""")

    def cut_off(self, height: int) -> None:
        """Let the cell show so many pixels of the widget, as a folded output of a notebook does."""
        self.page.evaluate(
            "(height) => { document.querySelector('#cell').style.cssText += `height: ${height}px; overflow: hidden`; }",
            height,
        )

    def reports(self) -> list[list[Any]]:
        """List what the host was told since this was asked last, once that has come to rest."""
        wait_in_page(self.page, 300)  # a choice is told 250 ms after it was made
        return self.page.evaluate("() => bare.reports.splice(0)")

    def violations(self) -> list[list[str]]:
        """List what the widget did against the policy: the directive, and the address."""
        return self.page.evaluate("() => bare.violations")

    def set_theme(self, name: str) -> None:
        """Give the place a theme."""
        self.page.evaluate("(name) => { themes.setTheme(document.querySelector('#place'), name); }", name)

    def set_height(self, height: int | None) -> None:
        """Let the host give another height, as a window of another size does."""
        self.page.evaluate("(height) => { bare.height = height; dispatchEvent(new Event('resize')); }", height)

    def height(self) -> int:
        """Measure the widget."""
        return self.root.evaluate("(root) => root.offsetHeight")

    def drawing(self) -> str:
        """Read the pixels of all canvases that are drawn."""
        return self.root.evaluate("""(root) => [...root.querySelectorAll("canvas")]
          .filter((canvas) => canvas.width && canvas.height && canvas.checkVisibility())
          .map((canvas) => canvas.toDataURL()).join()""")
