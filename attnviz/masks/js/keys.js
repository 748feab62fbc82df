// Everything with the keyboard: the painter's cursor walks the masked scores.

import { ARROWS, clamp, range } from "../../kit/js/cells.js";
import { announce } from "../../kit/js/live_region.js";
import { ZOOM_STEP } from "../../kit/js/zoom.js";
import { spokenText } from "../../kit/js/spans/spans.js";
import { RULE_HINT, colCells, rowCells, stateOf } from "./cells.js";
import { drawMaps } from "./draw.js";
import { bake, invertPaint, paintCells, togglePart } from "./paint.js";
import { pinRow } from "./pointer.js";
import { follow, setZoom, zoomBy } from "./zoom.js";
import { wholeMap } from "./zoom_window.js";

export const LAB_KEYS = [
  ["← ↑ ↓ →", "walk the cells of the masked scores"],
  ["Space", "hide or show the cell"],
  ["Shift + arrows", "paint along"],
  ["r, c", "hide or show the whole row, column"],
  ["Enter", "pin the row"],
  ["x", "clear the paint"],
  ["i", "invert the paint"],
  ["b", "turn the rules into paint"],
  ["+ −, drag", "zoom in, zoom out; zoom to a box of scores or weights"],
  ["0, double click", "the whole map"],
  ["wheel", "move a zoomed map, with Shift sideways"],
  ["g", "the model as a drawing", "drawing"],
  ["Esc", "close this list"],
];
export function watchLabKeys(app) {
  app.parts.map.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (labKey(app, event)) event.preventDefault();
  };
}

function labKey(app, event) {
  app.focused = true;
  app.cursor ??= { row: app.row ?? 0, col: 0 };
  const { row, col } = app.cursor;
  const { k } = app.payload;
  if (ARROWS[event.key]) return walk(app, ARROWS[event.key], event.shiftKey);
  const act = {
    " ": () => {
      app.brush = app.cells[row * k + col] ? 0 : 1;
      paintCells(app, [row * k + col], app.brush);
    },
    r: () => togglePart(app, rowCells(app, row)),
    c: () => togglePart(app, colCells(app, col)),
    Enter: () => pinRow(app, row),
    x: () => paintCells(app, range(app.cells.length), 1),
    i: () => invertPaint(app),
    b: () => bake(app),
    "+": () => zoomBy(app, ZOOM_STEP),
    "=": () => zoomBy(app, ZOOM_STEP), // the same key without Shift
    "-": () => zoomBy(app, 1 / ZOOM_STEP),
    0: () => setZoom(app, wholeMap(app)),
  }[event.key];
  act?.();
  if (act) announceCursor(app, event.key === " ");
  return Boolean(act);
}

function walk(app, [down, right], painting) {
  const { q, k } = app.payload;
  app.cursor = {
    row: clamp(app.cursor.row + down, 0, q - 1),
    col: clamp(app.cursor.col + right, 0, k - 1),
  };
  if (painting) paintCells(app, [app.cursor.row * k + app.cursor.col], app.brush ?? 0);
  follow(app, app.cursor);
  drawMaps(app);
  announceCursor(app, painting);
  return true;
}

// Announce the cursor's cell and its state; after painting also why a rule hides the paint.
function announceCursor(app, isPainted) {
  const { row, col } = app.cursor;
  const { k, header, rules } = app.payload;
  const i = row * k + col;
  const hint = isPainted && !rules[i] ? `. ${RULE_HINT}` : "";
  const key = spokenText(header.cols[col], header.spans, col);
  announce(app, `${app.spokenRows[row]}, key ${key}: ${stateOf(app, i)}${hint}`);
}
