// Painting: cells hidden and shown by hand, drawn at once and sent to Python.

import { range } from "../../kit/js/cells.js";
import { announce } from "../../kit/js/live_region.js";
import { SETTLE_MS } from "../../kit/js/store.js";
import { RULE_HINT, mayAttend } from "./cells.js";
import { textOf } from "./painting.js";
import { preview } from "./preview.js";

// Paint cells, draw at once, and tell Python: at the end of a stroke, or during it whenever the last answer has come.
export function paintCells(app, indices, value) {
  let changed = false;
  for (const i of indices)
    if (app.cells[i] !== value) {
      app.cells[i] = value;
      changed = true;
    }
  if (!changed) return;
  app.edited = true;
  redraw(app, new Set(indices.map((i) => Math.floor(i / app.payload.k))));
  if (!app.stroke || app.answered >= app.seq) report(app);
  const hidden = indices.length === 1 && value && !app.payload.rules[indices[0]];
  const by = hidden && app.payload.indexed?.[indices[0]] ? "the indexer" : "a rule";
  announce(app, hidden ? `Hidden by ${by}. ${RULE_HINT}` : "");
}

// A whole row or column: hidden, unless all of it is hidden already.
export function togglePart(app, indices) {
  paintCells(app, indices, indices.some((i) => app.cells[i]) ? 0 : 1);
}

export function invertPaint(app) {
  const hidden = range(app.cells.length).filter((i) => app.cells[i]);
  const shown = range(app.cells.length).filter((i) => !app.cells[i]);
  for (const i of shown) app.cells[i] = 1;
  for (const i of hidden) app.cells[i] = 0;
  app.edited = true;
  redraw(app, range(app.payload.q));
  report(app);
}

function redraw(app, rows) {
  const began = performance.now();
  preview(app, rows);
  app.widget.draw(app);
  app.root.dataset.attnvizEditMs = (performance.now() - began).toFixed(2);
}

// The rules become paint: the mask stays the same, and each of its cells can now be painted either way.
export function bake(app) {
  app.cells = app.cells.map((cell, i) => (mayAttend(app, i) ? 1 : 0));
  app.payload.rules.fill(1);
  app.edited = true;
  report(app, { bake: true });
}

export function report(app, more = {}) {
  clearTimeout(app.timer);
  app.timer = null;
  app.seq += 1;
  app.edited = false;
  app.sent = performance.now();
  const { q, k } = app.payload;
  const paint = textOf(app.cells, q, k);
  app.told = { paint };
  app.host.report("edit", { paint, row: app.row, zoom: app.zoom, bake: false, ...more, seq: app.seq });
}

// Row and zoom, which edit nothing, are sent once the hand has come to rest.
export function reportSoon(app) {
  clearTimeout(app.timer);
  app.timer = setTimeout(() => report(app), SETTLE_MS);
}
