// Everything has a key. The keys work wherever the component has the focus, and where nothing else on the page has it.

import { ARROWS, clamp } from "../../kit/js/cells.js";
import { ZOOM_STEP } from "../../kit/js/zoom.js";
import { choose, chooseKind, overHeads, overLayers, togglePin } from "./choice.js";
import { toggleHelp } from "./help.js";
import { panBy, zoomBy } from "./map/zoom.js";
import { zoomWith } from "./map/zoom_window.js";
import { toggleOff } from "./off.js";
import { otherSpans, otherWords, toggleOptions } from "./options.js";
import { neighbour } from "./overview/layout.js";

const NEXT_SPECIALS = { show: "hide", hide: "renormalise", renormalise: "show" };
const NEXT_CELLS = { weight: "norm", norm: "share", share: "weight" };

// The next key closes the help; Esc takes one thing away at a time.
export function keyAction(app, event) {
  const act = actionOf(app, event);
  if (!act || app.parts.help.hidden || event.key === "?") return act;
  return () => {
    toggleHelp(app);
    if (event.key !== "Escape") act();
  };
}

function actionOf(app, { key, shiftKey }) {
  const { view } = app;
  if (key in ARROWS) return shiftKey ? shiftAction(app, ARROWS[key]) : () => walk(app, ARROWS[key]);
  const actions = {
    j: rowAction(app, 1),
    k: rowAction(app, -1),
    a: () => choose(app, overHeads(app)),
    l: () => choose(app, overLayers(app)),
    m: () => choose(app, { mask: !view.mask }),
    o: () => toggleOff(app),
    c: () => choose(app, { cells: NEXT_CELLS[view.cells] }),
    s: () => choose(app, { specials: NEXT_SPECIALS[view.specials] }),
    v: () => toggleOptions(app),
    w: () => choose(app, otherWords(view)),
    t: app.parts.spans.hidden ? null : () => choose(app, otherSpans(view)),
    d: view.pins.length
      ? () => choose(app, { compare: { none: "side", side: "difference", difference: "none" }[view.compare] })
      : null,
    Escape: () => choose(app, { row: null, zoom: null }),
    "+": () => zoomBy(app, ZOOM_STEP),
    "=": () => zoomBy(app, ZOOM_STEP), // the same key without Shift
    "-": view.zoom ? () => zoomBy(app, 1 / ZOOM_STEP) : null,
    0: () => choose(app, { zoom: null }),
    Enter: () => togglePin(app),
    " ": () => togglePin(app),
    "?": () => toggleHelp(app),
    1: () => chooseKind(app, [...app.payload.kinds.keys()][0]),
    2: () => chooseKind(app, [...app.payload.kinds.keys()][1]),
    3: () => chooseKind(app, [...app.payload.kinds.keys()][2]),
  };
  return Object.hasOwn(actions, key) ? actions[key] : null;
}

function rowAction(app, step) {
  if (!step) return null;
  const { nRows } = app.payload.kinds.get(app.view.kind);
  const from = app.view.row ?? (step > 0 ? -1 : nRows);
  const row = clamp(from + step, 0, nRows - 1);
  return () => choose(app, { row, zoom: zoomWith(app, row) });
}

// Up and down to another row; left and right where the map is zoomed.
function shiftAction(app, [down, right]) {
  return down ? rowAction(app, down) : app.view.zoom ? () => panBy(app, right) : null;
}

export function walk(app, direction) {
  const [layer, head] = neighbour(app, direction);
  if (layer === app.view.layer && head === app.view.head) return;
  choose(app, { layer, head });
  // Moving the focus scrolls the page where the cell is out of sight, which is wanted, and only then.
  if (app.root.getRootNode().activeElement?.closest?.(".avz-grid")) app.focusCell?.node.focus({ preventScroll: false });
  else app.focusCell?.node.scrollIntoView?.({ block: "nearest", inline: "nearest" });
}
