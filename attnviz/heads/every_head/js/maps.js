// Each head as its map or its strongest lines: layers down and heads across, as large as the pane lets them be.

import { range } from "../../../kit/js/cells.js";
import { element } from "../../../kit/js/elements.js";
import { attendingNote, layerCells, layerNames, siteName } from "../../../kit/js/text.js";
import { orderNote } from "../../../kit/js/spans/spans.js";
import { colLines, numberLine, rowLines } from "../../../kit/js/tokens/tip_lines.js";
import { FAINTEST, LINES_A_ROW, mapBytes, paintMiniatures } from "./miniatures.js";

const MARGIN = { left: 30, top: 18 };
const GAP = 6;
const WIDEST = 230;

export const MAPS = {
  label: "Whole model",
  hints: [["open", "Click one (or arrow keys and Enter) to open it"]],
  title: ({ payload: { header } }) => `${header.title}: every head`,
  question: ({ question }) => question,
  notes,
  layoutOf,
  rows: ({ layers, heads }) => range(layers).map((layer) => range(heads).map((head) => [layer, head])),
  next: (_, [down, right], layer, head) => [layer + down, head + right],
  draw: paintMiniatures,
  cellName: (_, layer, head) => siteName(layer, head),
  cells: ({ payload, view }) => (view.mini === "map" ? payload.header.shape.slice(2) : [0, 0]),
  bubble,
  siteOf: ({ payload: { header } }) => `${header.title}, every layer and head`,
  figureName: ({ payload: { header }, view }) => `whole-model-${header.kind}-${view.mini}`,
  csvRows,
};

function layoutOf(app, [width, height]) {
  const { shape, size } = app.payload.header;
  const [layers, heads] = shape;
  let w = Math.min(WIDEST, Math.floor((width - MARGIN.left) / heads) - GAP);
  let h = Math.floor((height - MARGIN.top) / layers) - GAP;
  // A map keeps its shape as far as that is possible; lines may be as wide as they like.
  const shown = size[0] / size[1];
  if (app.view.mini === "map") [w, h] = [Math.min(w, h / shown), Math.min(h, w * shown * 1.6)];
  w = Math.max(9, Math.floor(w));
  h = Math.max(9, Math.floor(Math.min(h, WIDEST)));
  const left = MARGIN.left + Math.max(0, Math.floor((width - MARGIN.left - heads * (w + GAP)) / 2));
  const box = (layer, head) => ({ x: left + head * (w + GAP), y: MARGIN.top + layer * (h + GAP), w, h });
  return { w, h, left, layers, heads, box, width: left + heads * (w + GAP), height: MARGIN.top + layers * (h + GAP) };
}

// What is drawn and what is not, the same in files.
function notes(app) {
  const { shape, size, layer_numbers: numbers } = app.payload.header;
  const [layers, heads, rows, cols] = shape;
  const [q, k] = size;
  const lines = [`${layers} layers × ${heads} heads`];
  if (app.view.mini === "lines")
    lines.push(`the ${LINES_A_ROW} strongest lines of each row from weight ${(FAINTEST / 255).toFixed(2)} on`);
  else lines.push("colours from 0 to 1");
  if (q > rows || k > cols) lines.push(`each cell shows the largest weight of a block of the ${q} × ${k} map`);
  const { row_spans: ofRows, spans } = app.payload.header;
  const who = orderNote(ofRows ?? spans);
  if (who) lines.push(who);
  if (numbers.length) lines.push(attendingNote(numbers));
  return lines;
}

// The cell of the map under the pointer; of a long text the block of cells that it is the largest of.
function bubble(app, [layer, head], [row, col]) {
  const { header } = app.payload;
  if (!header.rows.length) return [];
  const [, , rows, cols] = header.shape;
  const [q, k] = header.size;
  const value = mapBytes(app, layer, head)[row * cols + col] / 255;
  const number = numberLine("weight", `≈ ${value.toFixed(2)} (8-bit)`);
  if (q === rows && k === cols) return [...rowLines(header, row), ...colLines(header, col), number];
  const first = (at, count, size) => Math.floor((at * count) / size);
  const last = (at, count, size) => Math.ceil(((at + 1) * count) / size) - 1;
  const block = `largest of queries ${first(row, q, rows)}–${last(row, q, rows)} and keys ${first(col, k, cols)}–${last(col, k, cols)}, from`;
  return [
    element("div", { class: "tip-at", text: block }),
    ...rowLines(header, first(row, q, rows)),
    ...colLines(header, first(col, k, cols)),
    number,
  ];
}

// Eight bits are for pictures: each number is a byte, the largest weight under its cell times 255.
function csvRows(app) {
  const { shape, layer_numbers: numbers } = app.payload.header;
  const [layers, heads, , cols] = shape;
  const lines = [[...layerNames(numbers), "head", "cell_row", "cell_col", "largest_weight_of_255"]];
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++)
      mapBytes(app, layer, head).forEach((value, i) =>
        lines.push([...layerCells(numbers, layer), head, Math.floor(i / cols), i % cols, value]),
      );
  return lines;
}
