// The map of spans: a row for each span, the mean over the rows of its tokens, and a column for each that it reads.

import { shortened } from "../../kit/js/pens/canvas_pen.js";
import { luminance, colourAt, css, scaleOf, stepOf } from "../../kit/js/theme.js";
import { percentText } from "../../kit/js/text.js";
import { columnsOf, rowsOf } from "./choice.js";
import { columnColour, spanColour } from "./colours.js";

const NAMES = 96; // pixels for names of rows
const RIGHT = 44; // where the last column’s name leans out
const HEADS = 76; // and of columns
const LARGEST = 64;
const LEAST = [26, 20]; // pixels of a cell
const LEAST_NUMBER = [24, 38]; // pixels of a cell that has room for whole percents, and for decimals

export function layoutMap(app, [width, height]) {
  const { spans } = app.payload.header;
  const columns = columnsOf(app);
  const w = Math.max(LEAST[0], Math.min(LARGEST, (width - NAMES - RIGHT) / columns.length));
  const h = Math.max(LEAST[1], Math.min(34, (height - HEADS - 4) / Math.max(1, spans.length)));
  const rows = rowsOf(app, "by_span");
  const top = app.view.per_token ? Math.max(1e-9, ...rows.flat()) : 1;
  return { columns, rows, w, h, top, width: NAMES + w * columns.length + RIGHT, height: HEADS + h * spans.length + 4 };
}

export function paintMap(app, pen, layout) {
  const { header } = app.payload;
  const scale = scaleOf(app, "sequential");
  layout.columns.forEach((column, at) => {
    const x = NAMES + (at + 0.5) * layout.w;
    const name = shortened(pen, header.columns[column], HEADS + 8, { size: 11 });
    pen.text(name, x - 3, HEADS - 10, { size: 11, angle: -0.9, colour: app.theme.muted });
    pen.box(NAMES + at * layout.w + 2, HEADS - 5, layout.w - 4, 3, { fill: columnColour(app, column) });
  });
  header.spans.forEach((span, row) => {
    const y = HEADS + row * layout.h;
    pen.box(2, y + 3, 4, layout.h - 6, { fill: spanColour(app, row) });
    pen.text(shortened(pen, span.name, NAMES - 16, { size: 11 }), NAMES - 5, y + layout.h / 2, {
      size: 11,
      align: "right",
    });
    if (header.unread.includes(row)) return;
    layout.columns.forEach((column, at) => paintCell(app, pen, layout, [row, column, NAMES + at * layout.w, y, scale]));
  });
}

function paintCell(app, pen, { rows, w, h, top }, [row, column, x, y, scale]) {
  const value = rows[row][column];
  const colour = colourAt(scale, stepOf(value, 0, top));
  pen.box(x + 0.5, y + 0.5, w - 1, h - 1, { fill: css(colour) });
  if (w < LEAST_NUMBER[0] || value === 0) return; // what comes later is not seen
  const ink = luminance(colour) < 0.5 ? "#fff" : "#1a1a2e";
  pen.text(w < LEAST_NUMBER[1] ? wholePercent(value) : percentText(value), x + w / 2, y + h / 2, {
    size: 10.5,
    align: "center",
    colour: ink,
  });
}

const wholePercent = (value) => (value < 0.005 ? "<1" : String(Math.round(100 * value)));

// [row, column] under a point, or null.
export function cellAt(app, { columns, w, h }, [x, y]) {
  const column = columns[Math.floor((x - NAMES) / w)];
  const row = Math.floor((y - HEADS) / h);
  return column !== undefined && app.payload.header.spans[row] ? [row, column] : null;
}

// A line for each cell.
export function mapRows(app) {
  const { header } = app.payload;
  const lines = [["from", "to", "tokens", "share"]];
  rowsOf(app, "by_span").forEach((row, at) => {
    if (header.unread.includes(at)) return;
    for (const column of columnsOf(app))
      lines.push([header.spans[at].name, header.columns[column], header.lengths[column], row[column]]);
  });
  return lines;
}
