// Each head as one row of its map: a strip a head, one below the other, the layers apart, the keys' names over them.

import { clamp, range } from "../../../kit/js/cells.js";
import { measured } from "../../../kit/js/pens/canvas_pen.js";
import { sharpness } from "../../../kit/js/resize.js";
import { attendingNote, exactText, layerCells, layerNames, rowName, siteName } from "../../../kit/js/text.js";
import { BAND } from "../../../kit/js/spans/bands.js";
import { spansNote, spokenText } from "../../../kit/js/spans/spans.js";
import { ENTRY_NAMES, entryCells } from "../../../kit/js/tokens/entries.js";
import { colLines, numberLine, rowLines } from "../../../kit/js/tokens/tip_lines.js";
import { NAME, highest, isOff, keysToAName, paintStrips, strongest, weightsOf } from "./strips.js";

const MARGIN = { left: 62, right: 150, narrow: 84 };
const NARROW = 560; // pixels: a phone's pane
const [LOWEST, HIGHEST] = [11, 24];
const BETWEEN_LAYERS = 8;

export const ROW = {
  label: "One row",
  hints: [
    ["open", "Click a strip (or arrow keys and Enter) to open its head"],
    ["row", "j and k change the row"],
  ],
  title: titleOf,
  question: ({ question }) => `${question}, in every head`,
  notes,
  layoutOf,
  rows: ({ layers, heads }) => range(layers).flatMap((layer) => range(heads).map((head) => [[layer, head]])),
  next,
  draw: paintStrips,
  cellName,
  cells: ({ payload }) => [1, payload.header.shape[2]],
  bubble,
  siteOf: titleOf,
  figureName: ({ payload: { header } }) => `row-${header.kind}-${header.row}`,
  csvRows,
};

function titleOf({ payload: { header } }) {
  const name = rowName(header.rows[header.row]);
  return `${header.title}, row ${header.row}: ${spokenText(name, header.row_spans, header.row)}`;
}

function longestName({ payload: { header }, theme }) {
  const widths = header.cols.map((text) => measured(text, NAME.size, 400, theme.font));
  return Math.min(NAME.longest, Math.max(0, ...widths));
}

function layoutOf(app, [width, height]) {
  const [layers, heads, keys] = app.payload.header.shape;
  const right = width < NARROW ? MARGIN.narrow : MARGIN.right;
  const band = app.payload.header.spans ? BAND + 2 : 0;
  const above = 18 + 0.71 * longestName(app) + band; // names are drawn slanting
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
    band,
    width: MARGIN.left + w + right,
    height: top(layers - 1, heads - 1) + h + 4,
  };
}

// Sideways: the same head of the next layer.
function next({ heads }, [down, right], layer, head) {
  const at = layer * heads + head + down + right * heads;
  return [Math.floor(at / heads), ((at % heads) + heads) % heads];
}

function cellName(app, layer, head) {
  const weights = weightsOf(app, layer, head);
  const top = strongest(weights);
  const off = isOff(app, layer, head) ? ", off" : "";
  return `${siteName(layer, head)}${off}, most on ${keyName(app, top)}: ${exactText(weights[top])}`;
}

const keyName = ({ payload: { header } }, key) => spokenText(header.cols[key], header.spans, key);

function bubble(app, [layer, head], [, key]) {
  const { header } = app.payload;
  const weight = numberLine("weight", exactText(weightsOf(app, layer, head)[key]));
  return [...rowLines(header, header.row), ...colLines(header, key), weight];
}

const reach = (high) => (high === 1 ? "1" : exactText(high));

// What is drawn and what is not, the same in files.
function notes(app) {
  const { shape, unseen, off, layer_numbers: numbers, left_out: leftOut } = app.payload.header;
  const lines = [`weights of ${shape[0]} layers × ${shape[1]} heads, colours from 0 to ${reach(highest(app))}`];
  if (app.layout.cell * sharpness() < 1) lines.push("each line shows the largest weight of several keys");
  if (keysToAName(app) > 1) lines.push(`one key in ${keysToAName(app)} is named`);
  lines.push("beside each strip: its largest weight");
  if (unseen.length) lines.push("hatched: masked");
  if (off.length) lines.push("struck through: head off");
  if (leftOut) lines.push(leftOut);
  const who = spansNote(app.payload.header.row_spans, app.payload.header.spans);
  if (who) lines.push(who);
  if (numbers.length) lines.push(attendingNote(numbers));
  return lines;
}

function csvRows(app) {
  const { header } = app.payload;
  const { row, rows, cols, row_entries: ofRows, col_entries: ofCols, layer_numbers: numbers } = header;
  const [layers, heads] = header.shape;
  const names = ["head", "off", "row", "row_in", "row_out", "key_position", "key", "weight", ...ENTRY_NAMES];
  const lines = [[...layerNames(numbers), ...names]];
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++)
      weightsOf(app, layer, head).forEach((weight, key) =>
        lines.push([
          ...layerCells(numbers, layer),
          head,
          isOff(app, layer, head),
          row,
          ...rows[row],
          key,
          cols[key],
          weight,
          ...entryCells(ofRows[row], ofCols[key]),
        ]),
      );
  return lines;
}
