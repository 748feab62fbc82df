// Stacked bars: each token of the answer, and how the row that puts it out shares its attention.

import { range } from "../../kit/js/cells.js";
import { shortened } from "../../kit/js/pens/canvas_pen.js";
import { columnsOf, rowsOf } from "./choice.js";
import { columnColour } from "./colours.js";

const LEFT = 38;
const TOP = 8;
const NAMES = 74; // pixels below for the tokens' names
const THINNEST = 3;
const WIDEST = 46;
const LEAST_NAMED = 10; // pixels of a bar that has a name

export function layoutBars(app, [width, height]) {
  const rows = rowsOf(app, "by_token");
  const step = Math.max(THINNEST, Math.min(WIDEST, (width - LEFT - 8) / rows.length));
  const isNamed = step >= LEAST_NAMED;
  const inner = Math.max(60, height - TOP - (isNamed ? NAMES : 22));
  const bars = rows.map((row, at) => barOf(app, row, [LEFT + at * step, inner, step]));
  return { bars, step, inner, isNamed, width: Math.max(width, LEFT + step * rows.length + 8), height, top: TOP };
}

// Shares for each token do not add up to 1: their bar is as high as the others, and only its parts compare.
function barOf(app, row, [x, inner, step]) {
  const columns = columnsOf(app);
  const total = columns.reduce((sum, at) => sum + row[at], 0);
  const scale = app.view.per_token && total ? inner / total : inner;
  const gap = step > 8 ? 2 : step > 5 ? 1 : 0;
  let y = TOP + inner;
  const parts = columns.map((column) => {
    const h = row[column] * scale;
    y -= h;
    return { column, share: row[column], x: x + gap / 2, y, w: step - gap, h };
  });
  return { x, parts };
}

export function paintBars(app, pen, layout) {
  const { theme, payload, view } = app;
  const { bars, step, inner, isNamed, top } = layout;
  for (const part of [0, 0.5, 1]) {
    const y = top + inner * (1 - part);
    pen.line(LEFT - 4, y, LEFT + step * bars.length, y, { stroke: theme.line });
    pen.text(`${100 * part}%`, LEFT - 6, y, { size: 10, colour: theme.muted, align: "right" });
  }
  const [start] = payload.header.answer;
  bars.forEach((bar, at) => {
    for (const { column, x, y, w, h } of bar.parts)
      if (h > 0.3) pen.box(x, y, w, h, { fill: columnColour(app, column) });
    if (!isNamed) return;
    const name = payload.header.tokens[start + at];
    const isFocus = view.focus === start + at;
    const look = { size: 11, align: "right", angle: -1, colour: isFocus ? theme.ink : theme.muted };
    const middle = bar.x + step / 2;
    pen.text(shortened(pen, name, 74, { size: 11 }), middle + 3, top + inner + 9, {
      ...look,
      weight: isFocus ? 700 : 400,
    });
  });
  paintFocus(app, pen, layout);
}

function paintFocus({ theme, payload, view }, pen, { bars, step, inner, top }) {
  if (view.focus === null) return;
  const bar = bars[view.focus - payload.header.answer[0]];
  if (bar) pen.box(bar.x, top - 2, step, inner + 4, { stroke: theme.accent, width: 2, radius: 2 });
}

// The bar and its part under a point: [position of the token, column], or null.
export function barAt(app, { bars, step }, [x, y]) {
  const at = Math.floor((x - LEFT) / step);
  if (!bars[at]) return null;
  const part = bars[at].parts.find((one) => y >= one.y && y <= one.y + one.h);
  return [app.payload.header.answer[0] + at, part ?? null];
}

// A line for each token of the answer and each column.
export function barRows(app) {
  const { header } = app.payload;
  const [start] = header.answer;
  const lines = [["position", "token", "span", "tokens", "share"]];
  const rows = rowsOf(app, "by_token");
  for (const at of range(rows.length))
    for (const column of columnsOf(app))
      lines.push([
        start + at,
        header.tokens[start + at],
        header.columns[column],
        header.lengths[column],
        rows[at][column],
      ]);
  return lines;
}
