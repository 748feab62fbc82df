// What is over the canvas: a cell a head, which can be pointed at, reached by arrow keys and opened.

import { headCell, markFocus } from "../../base/js/head_cells.js";
import { ARROWS, cellUnder, range } from "../../shared/js/cells.js";
import { element } from "../../shared/js/elements.js";
import { magnified } from "../../shared/js/resize.js";
import { siteName } from "../../shared/js/text.js";
import { placeInWindow } from "../../shared/js/tip.js";
import { colLines, numberLine, rowLines } from "../../shared/js/tokens/tip_lines.js";
import { mapBytes } from "./miniatures.js";

const EDGE = 4; // of a cell around its miniature

export function paintCells(app) {
  const { layout } = app;
  const key = JSON.stringify([app.payload.header.shape, layout.w, layout.h, layout.left]);
  if (app.cellsKey !== key) {
    app.cellsKey = key;
    app.cells = new Map();
    const row = (layer) =>
      element("div", { role: "row" }, ...range(layout.heads).map((head) => cellNode(app, layer, head)));
    app.parts.cells.replaceChildren(...range(layout.layers).map(row));
  }
  markFocus(app);
}

function cellNode(app, layer, head) {
  const { x, y, w, h } = app.layout.box(layer, head);
  const node = headCell(app, [layer, head], {
    box: [x - 2, y - 2, w + 4, h + 4],
    className: "mini",
    name: siteName(layer, head),
    pointAt: (event) => pointAtCell(app, node, event, [layer, head]),
    next: (key) => nextCell(app, key, layer, head),
  });
  return node;
}

// The head, and the cell of its map under the pointer; of a long text the block of cells that it is the largest of.
function pointAtCell(app, node, event, [layer, head]) {
  const { cellTip } = app.parts;
  const { header } = app.payload;
  const { left, top, width, height } = node.getBoundingClientRect();
  const edge = EDGE * magnified();
  const inner = { left: left + edge, top: top + edge, width: width - 2 * edge, height: height - 2 * edge };
  const [, , rows, cols] = header.shape;
  const [row, col] = app.view.mini === "map" ? cellUnder(inner, event, [rows, cols]) : [null, null];
  const lines = row === null || !header.rows.length ? [] : cellLines(header, [row, col], mapBytes(app, layer, head));
  cellTip.replaceChildren(element("div", {}, element("b", { text: siteName(layer, head) })), ...lines);
  placeInWindow(cellTip, event);
}

function cellLines(header, [row, col], bytes) {
  const [, , rows, cols] = header.shape;
  const [q, k] = header.size;
  const value = numberLine("weight", `≈ ${(bytes[row * cols + col] / 255).toFixed(2)} (8-bit)`);
  if (q === rows && k === cols) return [...rowLines(header, row), ...colLines(header, col), value];
  const first = (at, count, size) => Math.floor((at * count) / size);
  const last = (at, count, size) => Math.ceil(((at + 1) * count) / size) - 1;
  const block = `largest of queries ${first(row, q, rows)}–${last(row, q, rows)} and keys ${first(col, k, cols)}–${last(col, k, cols)}, from`;
  return [
    element("div", { class: "tip-at", text: block }),
    ...rowLines(header, first(row, q, rows)),
    ...colLines(header, first(col, k, cols)),
    value,
  ];
}

function nextCell(app, key, layer, head) {
  const [down, right] = ARROWS[key] ?? [NaN, NaN];
  return app.cells.get(`${layer + down}.${head + right}`);
}
