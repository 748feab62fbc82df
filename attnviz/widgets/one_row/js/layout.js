// Where each head's strip is: one below the other, the layers apart, the keys' names over them.

import { clamp, isIndex } from "../../shared/js/cells.js";
import { measured } from "../../shared/js/pens/canvas_pen.js";

export const AT_ONCE = ["kind", "row", "open"]; // only Python has another row or kind, or opens a head
const MARGIN = { left: 62, right: 150, narrow: 84 };
export const NAME = { size: 11, longest: 84, apart: 13 }; // of a key: pixels, and from one to the next
const NARROW = 560; // pixels: a phone's pane
const [LOWEST, HIGHEST] = [11, 24];
const BETWEEN_LAYERS = 8;

export function settle(app) {
  const [layers, heads] = app.payload.header.shape;
  if (!isIndex(app.view.layer, layers)) app.view.layer = 0;
  if (!isIndex(app.view.head, heads)) app.view.head = 0;
}

function longestName({ payload: { header }, theme }) {
  const widths = header.cols.map((text) => measured(text, NAME.size, 400, theme.font));
  return Math.min(NAME.longest, Math.max(0, ...widths));
}

export function layoutOf(app, [width, height]) {
  const [layers, heads, keys] = app.payload.header.shape;
  const right = width < NARROW ? MARGIN.narrow : MARGIN.right;
  const above = 18 + 0.71 * longestName(app); // names are drawn slanting
  const room = (height - above - layers * BETWEEN_LAYERS) / (layers * heads);
  const h = clamp(Math.floor(room), LOWEST, HIGHEST);
  const w = Math.max(120, width - MARGIN.left - right - 12);
  const top = (layer, head) => above + (layer * heads + head) * h + layer * BETWEEN_LAYERS;
  const box = (layer, head) => ({ x: MARGIN.left, y: top(layer, head), w, h: h - 2 });
  return {
    box,
    h,
    layers,
    heads,
    keys,
    right,
    left: MARGIN.left,
    cell: w / keys,
    top: above,
    width: MARGIN.left + w + right,
    height: top(layers - 1, heads - 1) + h + 4,
  };
}
