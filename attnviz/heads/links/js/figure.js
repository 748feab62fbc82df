// The same picture for files: both columns whole, also their parts off the screen.

import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { drawBandsBeside } from "../../../kit/js/spans/bands.js";
import { isTemplate } from "../../../kit/js/spans/spans.js";
import { ENTRY_NAMES, entryCells } from "../../../kit/js/tokens/entries.js";
import { tagged } from "../../../kit/js/pens/svg_pen.js";
import { layerCells, layerNames, rowName, siteName } from "../../../kit/js/text.js";
import { notesOf } from "./hover.js";
import { activeToken, eachLine } from "./lines.js";
import { canvasStrokes, strokeLines } from "./strokes.js";

const COLUMN = 170;
const MIDDLE = 420;
const HEAD = 46;

export const figureName = (app) =>
  `links-${app.view.kind}-${
    app.view.heads
      .map(([l, h]) => `L${l}-H${h}`)
      .slice(0, 6)
      .join("_") || "none"
  }`;

const namesOf = (app) => app.view.heads.map((site) => siteName(...site)).join(", ") || "no head";
export const siteOf = (app) => `${app.payload.header.title}, ${namesOf(app)}`;

export function figureSize(app) {
  const [, , rows, cols] = app.payload.header.shape;
  return [2 * COLUMN + MIDDLE + 24, HEAD + Math.ceil(app.rowHeight * Math.max(rows, cols)) + 34];
}

export function figure(app, pen, context) {
  const { header } = app.payload;
  pen.text(shortened(pen, `${header.title}: ${namesOf(app)}`, 2 * COLUMN + MIDDLE, { size: 14, weight: 600 }), 12, 20, {
    size: 14,
    weight: 600,
  });
  const note = shortened(pen, notesOf(app).join(" · "), 2 * COLUMN + MIDDLE, { size: 11 });
  pen.text(note, 12, figureSize(app)[1] - 14, { size: 11, colour: app.theme.muted });
  const size = Math.max(3, Math.min(Math.max(12, app.rowHeight * 0.3), app.rowHeight - 2, 17));
  const label = (text, place, x, { align, spans }) => {
    const style = isTemplate(spans, place) ? { italic: true, colour: app.theme.muted } : {};
    const y = HEAD + (place + 0.5) * app.rowHeight;
    pen.text(shortened(pen, text, COLUMN - 16, { size }), x, y, { size, align, ...style });
  };
  const [ofRows, ofCols] = [
    { align: "right", spans: header.row_spans },
    { align: "left", spans: header.spans },
  ];
  header.rows.forEach((row, i) => label(rowName(row), i, COLUMN + 4, ofRows));
  header.cols.forEach((text, i) => label(text, i, COLUMN + MIDDLE + 20, ofCols));
  const { length: nRows } = header.rows;
  const { length: nCols } = header.cols;
  drawBandsBeside(app, pen, ofRows.spans, { x: 18, y: HEAD, h: app.rowHeight, window: [0, nRows] });
  const right = 2 * COLUMN + MIDDLE + 22;
  drawBandsBeside(app, pen, ofCols.spans, { x: right, y: HEAD, h: app.rowHeight, window: [0, nCols] });
  const corner = [COLUMN + 12, HEAD];
  const { strokes, extra } = context
    ? { strokes: canvasStrokes(context, corner), extra: () => "" }
    : svgStrokes(corner);
  strokeLines(app, app.shown, { width: MIDDLE, from: 0, to: Infinity }, activeToken(app) === null ? 1 : 2, strokes);
  return extra();
}

function svgStrokes([x, y]) {
  const paths = [];
  let path = [];
  const tenth = (value) => Math.round(value * 10) / 10;
  const strokes = {
    begin: () => (path = []),
    line: (x1, y1, x2, y2) => path.push(`M${tenth(x1)} ${tenth(y1)}L${tenth(x2)} ${tenth(y2)}`),
    end: (colour, alpha, width) =>
      paths.push(tagged("path", { d: path.join(""), stroke: colour, "stroke-opacity": alpha, "stroke-width": width })),
  };
  return { strokes, extra: () => `<g transform="translate(${x} ${y})">${paths.join("")}</g>` };
}

export function csvRows(app) {
  const { header } = app.payload;
  const numbers = header.layer_numbers;
  const rows = [
    [...layerNames(numbers), "head", "row", "row_in", "row_out", "key_position", "key", "weight", ...ENTRY_NAMES],
  ];
  eachLine(app, activeToken(app), (row, col, weight, place) =>
    rows.push([
      ...layerCells(numbers, app.view.heads[place][0]),
      app.view.heads[place][1],
      row,
      ...header.rows[row],
      col,
      header.cols[col],
      weight,
      ...entryCells(header.row_entries[row], header.col_entries[col]),
    ]),
  );
  return rows;
}
