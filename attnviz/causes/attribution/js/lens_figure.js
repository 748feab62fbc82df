// The logit lens for files: drawn with a pen, around the column that is asked about, and its numbers.

import { clamp, range } from "../../../kit/js/cells.js";
import { saveCSV } from "../../../kit/js/downloads.js";
import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { isTemplate } from "../../../kit/js/spans/spans.js";
import { css, mix } from "../../../kit/js/theme.js";
import { rowName } from "./lens.js";

const TITLE = 24;
const ROW = 18;
const LEFT = 46;
const COLUMN = 62;

export const lensHeight = ({ cells }) => TITLE + ROW * (cells.length + 1) + 8;

// The columns that fit, those around the asked one.
function windowOf({ cols, column }, width) {
  const count = Math.min(cols.length, Math.floor((width - LEFT) / COLUMN));
  return [clamp((column ?? 0) - Math.floor(count / 2), 0, cols.length - count), count];
}

export function paintLens(pen, theme, lens, { top, width }) {
  const [first, count] = windowOf(lens, width);
  const part = count < lens.cols.length ? `, columns ${first} to ${first + count - 1} of ${lens.cols.length}` : "";
  pen.text(`Logit lens, ${lens.title}${part}`, 12, top + 12, { size: 12, weight: 600 });
  const yOf = (row) => top + TITLE + (row + 0.5) * ROW;
  const write = (text, col, row, style) =>
    pen.text(shortened(pen, text, COLUMN - 8, { size: 11 }), LEFT + (col - first) * COLUMN + 4, yOf(row), {
      size: 11,
      ...style,
    });
  for (const col of range(count).map((at) => at + first)) {
    write(lens.cols[col], col, 0, { colour: theme.muted, italic: isTemplate(lens.spans, col) });
    for (const row of range(lens.cells.length)) {
      const layer = lens.cells.length - 1 - row;
      const [text, probability] = lens.cells[layer][col][0];
      const box = [LEFT + (col - first) * COLUMN, yOf(row + 1) - ROW / 2 + 1, COLUMN - 2, ROW - 2];
      pen.box(...box, { fill: css(mix(theme.accentRGB, theme.paperRGB, probability * 0.4)), radius: 3 });
      if (col === lens.column) pen.box(...box, { stroke: theme.accent, width: 1.5, radius: 3 });
      write(text, col, row + 1, { weight: lens.own[layer][col]?.[1] === 0 ? 700 : 400 });
    }
  }
  for (const row of range(lens.cells.length)) {
    const style = { size: 11, colour: theme.muted, align: "right" };
    pen.text(rowName(lens.cells.length - 1 - row), LEFT - 6, yOf(row + 1), style);
  }
}

// A line for each of the likeliest tokens, and where the token that comes out stands.
export function lensRows({ payload: { header } }) {
  const names = ["stack", "layer", "position", "token", "rank", "likeliest", "probability"];
  const own = ["own_rank", "own_probability"];
  const lines = [[...names, ...own]];
  for (const { title, cells, cols, own: ranks } of header.lenses)
    cells.forEach((columns, layer) =>
      columns.forEach((best, at) =>
        best.forEach(([text, probability], rank) => {
          const [share, place] = ranks[layer][at] ?? ["", ""];
          const name = layer === 0 ? "embedding" : layer - 1;
          lines.push([title, name, at, cols[at], rank, text, probability, place, share]);
        }),
      ),
    );
  return lines;
}

export const saveLens = (app) => saveCSV(`attnviz-logit-lens-step-${app.payload.header.step}`, lensRows(app));
