"""A cell without a notebook: a plain page in which the real script of a picture runs on a model of a few lines."""

import base64
from typing import Any

from playwright.sync_api import Locator, Page

from attnviz.hosts.notebook.widget import PictureWidget

SET_UP = """async ([esm, payload, blobs, state]) => {
  const view = (text) => new DataView(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer);
  const heard = {};
  globalThis.cell = { told: [], isAnswering: true };
  const model = {
    state: { ...state, _payload: view(payload), _blobs: view(blobs) },
    get: (name) => model.state[name],
    set(name, value) {
      model.state[name] = value;
      for (const act of heard[`change:${name}`] ?? []) act();
    },
    save_changes: () => cell.told.push(model.state._told),
    on: (name, act) => (heard[name] ??= []).push(act),
    send: () => cell.isAnswering && queueMicrotask(() => heard["msg:custom"]?.forEach((act) => act())),
  };
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const renders = [...document.querySelectorAll(".cell")].map((el) => {
    const output = document.createElement("div"); // put into the page afterwards, as a notebook does
    const end = widget.render({ model, el: output });
    el.append(output);
    return end;
  });
  Object.assign(cell, { model, end: () => renders.forEach((end) => end()) });
}"""
PAGE = '<!doctype html><body style="margin: 0"><input>' + '<div class="cell" style="width: 1200px"></div>' * 2


class Cells:
    """Two cells that show the same picture."""

    def __init__(self, page: Page, widget: PictureWidget, *, told: dict[str, Any] | None = None) -> None:
        self.page = page
        page.set_viewport_size({"width": 1240, "height": 1400})
        page.emulate_media(color_scheme="light")
        page.goto("about:blank")
        page.set_content(PAGE)
        state = {"_told": told or {}, "theme": widget.theme, "height": widget.height}
        state["_caption_class"] = widget._caption_class
        sent = [base64.b64encode(part).decode() for part in (widget._payload, widget._blobs)]
        page.evaluate(SET_UP, [widget._esm, *sent, state])

    def picture(self, at: int = 0) -> Locator:
        """Return the picture in a cell, once it is painted."""
        return self.page.locator(".cell").nth(at).locator("[data-attnviz-painted]")

    def set(self, name: str, value: Any) -> None:
        """Set a name of the model, as Python does."""
        self.page.evaluate("([name, value]) => cell.model.set(name, value)", [name, value])

    def told(self) -> dict[str, Any]:
        """Wait for the browser to report a view; return it."""
        self.page.wait_for_function("() => cell.told.length")
        return self.page.evaluate("() => cell.told.splice(0).at(-1)")
