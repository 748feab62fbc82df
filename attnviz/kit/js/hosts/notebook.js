// A widget's host in a cell of a notebook: anywidget's model on one side, a picture on the other. The picture stands in a
// shadow root of its own, so that neither the notebook's styles reach it nor its styles the notebook.
//
// Of the model (attnviz/hosts/notebook/widget.py): `_payload` is the header of what is drawn and `_blobs` its arrays,
// `_told` the view that either side set last, `theme` and `height` what the reader wants, `_caption_class` names the
// caption that stands before the picture.

import { setTheme } from "./themes.js";

const HEIGHT = 540; // pixels of a picture whose height is not set
const ALWAYS_LACKED = ["drawing"]; // pages of the app are not here
const PATIENCE = 3000; // milliseconds until Python, asked whether it is there, counts as gone or busy

// Makes what anywidget draws a cell's output with; `draw` is the widget's default export, `pythonOnly` names the controls
// that only Python answers, and the rest is what a file of its own is made of.
export function inNotebook(draw, { pythonOnly, ...widget }) {
  const toldHere = new WeakSet(); // views that a picture of this page reported, not Python

  function render({ model, el }) {
    const place = el.appendChild(document.createElement("div"));
    const shadow = place.attachShadow({ mode: "open" });
    shadow.innerHTML = `<style>${widget.style}</style>${widget.html}`;
    let told = null;
    let takeAway = () => {};
    let endTheme = () => {};

    const host = {
      lacks: ALWAYS_LACKED,
      height: (_, least) => Math.max(least, model.get("height") ?? HEIGHT),
      report(name, value) {
        if (name !== "view" && name !== "edit") return;
        told = { ...value };
        toldHere.add(told);
        model.set("_told", told);
        model.save_changes();
        askPython();
      },
    };

    // A saved notebook has pictures and no Python; so has one whose kernel was restarted. A busy kernel answers later.
    let wait;
    function askPython() {
      clearTimeout(wait);
      wait = setTimeout(() => hear(false), PATIENCE);
      model.send("here?");
    }

    function hear(isThere) {
      clearTimeout(wait);
      const lacks = isThere ? ALWAYS_LACKED : [...ALWAYS_LACKED, ...pythonOnly];
      if (lacks.length === host.lacks.length) return;
      host.lacks = lacks;
      show();
    }

    const source = () => ({ html: widget.html, style: widget.style, module: widget.module });

    function show() {
      const view = viewOf(model.get("_told"));
      const data = [model.get("_payload"), model.get("_blobs")];
      takeAway = draw({ parentElement: shadow, data, host, view, source }) ?? takeAway;
    }

    // The same picture in another cell counts its own choices: what it reports always holds here.
    function viewOf(given) {
      if (!given || !Object.keys(given).length) return undefined;
      const { seq, ...others } = given;
      return toldHere.has(given) && given !== told ? others : { ...others, seq };
    }

    function dress() {
      endTheme();
      endTheme = setTheme(place, model.get("theme"));
    }

    // The caption stands in the picture's place until the picture is drawn (attnviz/hosts/notebook/widget.py).
    function hideCaption() {
      const name = model.get("_caption_class");
      for (const caption of name ? document.getElementsByClassName(name) : []) caption.hidden = true;
    }

    function begin() {
      dress();
      show();
      hideCaption();
      model.on("change:_payload", show);
      model.on("change:_told", () => model.get("_told") !== told && show());
      model.on("change:height", show);
      model.on("change:theme", dress);
      model.on("msg:custom", () => hear(true));
      askPython();
    }

    const endWait = onceInPage(place, begin);
    const endKeys = leaveShortcuts(place);
    return () => {
      endWait();
      endKeys();
      endTheme();
      clearTimeout(wait);
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
