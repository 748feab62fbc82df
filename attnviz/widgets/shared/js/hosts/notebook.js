// A widget's host in a cell of a notebook: anywidget's model on one side, a picture on the other. The picture stands in a
// shadow root of its own, so that neither the notebook's styles reach it nor its styles the notebook.
//
// Of the model (attnviz/notebook/widget.py): `_payload` is what is drawn, `_told` the view that either side set last,
// `theme` and `height` what the reader wants.

import { setTheme } from "./themes.js";

const HEIGHT = 540; // pixels of a picture of which nobody said how high it is

// Makes what anywidget draws a cell's output with; `draw` is the widget's default export.
export function inNotebook(draw, { html, style }) {
  const toldHere = new WeakSet(); // views that a picture of this page reported, not Python

  function render({ model, el }) {
    const place = el.appendChild(document.createElement("div"));
    const shadow = place.attachShadow({ mode: "open" });
    shadow.innerHTML = `<style>${style}</style>${html}`;
    let told = null;
    let takeAway = () => {};
    let endTheme = () => {};

    const host = {
      height: (_, least) => Math.max(least, model.get("height") ?? HEIGHT),
      report(name, value) {
        if (name !== "view" && name !== "edit") return;
        told = { ...value };
        toldHere.add(told);
        model.set("_told", told);
        model.save_changes();
      },
    };

    function show() {
      const view = viewOf(model.get("_told"));
      takeAway = draw({ parentElement: shadow, data: model.get("_payload"), host, view }) ?? takeAway;
    }

    // The same picture in another cell counts its own choices: what it reports always holds here.
    function viewOf(given) {
      if (!given || !Object.keys(given).length) return undefined;
      return toldHere.has(given) && given !== told ? { ...given, seq: undefined } : given;
    }

    function dress() {
      endTheme();
      endTheme = setTheme(place, model.get("theme"));
    }

    function begin() {
      dress();
      show();
      model.on("change:_payload", show);
      model.on("change:_told", () => model.get("_told") !== told && show());
      model.on("change:height", show);
      model.on("change:theme", dress);
    }

    const endWait = onceInPage(place, begin);
    const endKeys = leaveShortcuts(place);
    return () => {
      endWait();
      endKeys();
      endTheme();
      takeAway();
    };
  }

  return { render };
}

// A cell's output is made before it is put into the page, and has neither size nor colours until then.
function onceInPage(place, begin) {
  const watcher = new ResizeObserver(() => {
    if (!place.isConnected) return;
    watcher.disconnect();
    begin();
  });
  watcher.observe(place);
  return () => watcher.disconnect();
}

// A picture's keys are plain ones; JupyterLab keeps those with Ctrl, Alt or Command, such as that which saves.
function leaveShortcuts(place) {
  const decide = ({ ctrlKey, metaKey, altKey }) =>
    place.toggleAttribute("data-lm-suppress-shortcuts", !(ctrlKey || metaKey || altKey));
  window.addEventListener("keydown", decide, { capture: true });
  return () => window.removeEventListener("keydown", decide, { capture: true });
}
