// A part of long maps, drawn larger: by a box dragged on scores or weights, by buttons and keys; the wheel moves it.

import { pinched } from "../../kit/js/touch/pinch.js";
import { scaled, startingAt } from "../../kit/js/zoom.js";
import { legendText } from "./legend.js";
import { reportSoon } from "./paint.js";
import { SMALL_CELL, sizeOf, within, zoomOf } from "./zoom_window.js";

export function setZoom(app, { rows, keys }) {
  const { q, k } = app.payload;
  app.zoom = sizeOf(rows) >= q && sizeOf(keys) >= k ? null : [...rows, ...keys];
  app.widget.drawMaps(app);
  reportSoon(app);
}

// Around the painter's cursor, else the cell under the pointer, else the middle.
export function zoomBy(app, factor) {
  const { rows, keys } = zoomOf(app);
  const { q, k } = app.payload;
  const at = app.cursor ?? app.hover;
  const middle = ([from, to]) => (from + to - 1) / 2;
  setZoom(app, {
    rows: scaled(rows, { factor, at: at?.row ?? middle(rows), length: q }),
    keys: scaled(keys, { factor, at: at?.col ?? middle(keys), length: k }),
  });
}

export function zoomInto(app, from, to) {
  const ordered = (a, b) => [Math.min(a, b), Math.max(a, b) + 1];
  setZoom(app, { rows: ordered(from.row, to.row), keys: ordered(from.col, to.col) });
}

// Two fingers took hold of a map, as it was drawn then.
export function pinchZoom(app, { box, zoom, cell }, { from, to, factor }) {
  const { q, k } = app.payload;
  const [w, h] = [cell.w * sizeOf(zoom.keys), cell.h * sizeOf(zoom.rows)];
  const across = { from: (from[0] - box.x) / w, to: (to[0] - box.x) / w, factor, length: k };
  const down = { from: (from[1] - box.y) / h, to: (to[1] - box.y) / h, factor, length: q };
  const next = { rows: pinched(zoom.rows, down), keys: pinched(zoom.keys, across) };
  const before = zoomOf(app);
  if (String(next.rows) !== String(before.rows) || String(next.keys) !== String(before.keys)) setZoom(app, next);
}

// Move the window by shares of its size; false where it is at the edge already, so that the page scrolls on.
export function panBy(app, down, right) {
  const { rows, keys } = zoomOf(app);
  const { q, k } = app.payload;
  const step = (part, window) => Math.sign(part) * Math.ceil(Math.abs(part) * sizeOf(window));
  const next = {
    rows: startingAt(rows[0] + step(down, rows), sizeOf(rows), q),
    keys: startingAt(keys[0] + step(right, keys), sizeOf(keys), k),
  };
  if (next.rows[0] === rows[0] && next.keys[0] === keys[0]) return false;
  setZoom(app, next);
  return true;
}

// Take the window along when the cursor leaves it.
export function follow(app, { row, col }) {
  if (!app.zoom) return;
  const { rows, keys } = zoomOf(app);
  const { q, k } = app.payload;
  const shifted = (at, window, length) =>
    within(at, window) ? window : startingAt(at < window[0] ? at : at + 1 - sizeOf(window), sizeOf(window), length);
  const next = { rows: shifted(row, rows, q), keys: shifted(col, keys, k) };
  if (next.rows !== rows || next.keys !== keys) setZoom(app, next);
}

export function showZoom(app) {
  const {
    parts,
    layout: { cell },
  } = app;
  parts.zoom.hidden = !app.zoom && Math.min(cell.w, cell.h) >= SMALL_CELL;
  parts.whole.hidden = !app.zoom;
  parts.legend.textContent = legendText(app);
}
