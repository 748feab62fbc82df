// The matrices, drawn with a pen: on the screen and in files alike.

import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { range } from "../../../kit/js/cells.js";
import { BAND, drawBandsAbove } from "../../../kit/js/spans/bands.js";
import { isTemplate } from "../../../kit/js/spans/spans.js";
import { colourAt, css, luminance, scaleOf, stepOf } from "../../../kit/js/theme.js";
import { shortText } from "../../../kit/js/text.js";
import { nameOf } from "./choice.js";
import { READABLE, bandBelow } from "./layout.js";
import { ALONE, LEFT_OUT, MEASURED, OUTSIDE, numbersOf, rowName } from "./numbers.js";

const WRITABLE = 32; // pixels of a cell that a number fits in

// `marked` are the names of cells with a frame, `cursor` is [block, row, column] or null.
export function paintMatrices(app, pen, { blocks }, { marked, cursor = null }) {
  const scale = scaleOf(app, "diverging");
  for (const block of blocks) {
    const matrix = app.payload.header.matrices[block.at];
    const numbers = numbersOf(app, block.at);
    paintNames(app, pen, block, matrix);
    paintCells(app, pen, block, numbers, scale);
    paintMarks(app, pen, block, matrix, marked);
  }
  if (cursor) {
    const [block, row, col] = cursor;
    pen.box(...placeOf(block, row, col), { stroke: app.theme.ink, width: 2 });
  }
}

const placeOf = ({ x, y, w, h }, row, col) => [x + col * w, y + row * h, w, h];

function paintNames(app, pen, block, matrix) {
  const { x, y, w, h, rows, cols, below } = block;
  const what = block.name === "share" ? matrix.title : "the same patches on the control pair";
  const title = shortened(pen, what, Math.max(160, block.room), { size: 12, weight: 600 });
  pen.text(title, x, y - 11, { size: 12, weight: 600 });
  for (const row of range(rows))
    pen.text(rowName(matrix, row), x - 6, y + (row + 0.5) * h, { size: 11, colour: app.theme.muted, align: "right" });
  const bottom = y + rows * h;
  drawBandsAbove(app, pen, matrix.spans, { x, y: bottom + 3 + BAND, w, window: [0, cols] });
  if (w < READABLE) return;
  const isTokens = matrix.first_layer < 0;
  for (const col of range(cols)) {
    const style = { size: 11, colour: app.theme.muted };
    if (isTokens) {
      const text = shortened(pen, matrix.cols[col], below, { size: 11 });
      const italic = isTemplate(matrix.spans, col);
      const at = [x + (col + 0.5) * w + 3, bottom + bandBelow(matrix) + 8];
      pen.text(text, ...at, { ...style, italic, align: "right", angle: -0.9 });
    } else if (w >= 20 || col % 4 === 0)
      pen.text(matrix.cols[col], x + (col + 0.5) * w, bottom + 9, { ...style, align: "center" });
  }
}

function paintCells(app, pen, block, numbers, scale) {
  const { rows, cols, w, h } = block;
  const hatched = [];
  for (const row of range(rows))
    for (const col of range(cols)) {
      const at = row * cols + col;
      const [x, y] = placeOf(block, row, col);
      const inner = [x + 0.5, y + 0.5, w - 1, h - 1];
      const state = numbers.state[at];
      if (state === OUTSIDE) pen.box(...inner, { fill: app.theme.line });
      if (state === ALONE || state === LEFT_OUT) hatched.push(inner);
      if (state !== MEASURED) continue;
      const value = numbers[block.name][at];
      const rgb = colourAt(scale, stepOf(value, -1, 1));
      pen.box(...inner, { fill: css(rgb), stroke: app.theme.line });
      if (w >= WRITABLE) {
        const colour = luminance(rgb) < 0.5 ? "#fff" : "#111";
        pen.text(shortText(value), x + w / 2, y + h / 2, { size: 10, colour, align: "center" });
      }
    }
  if (hatched.length) pen.hatch(hatched);
}

function paintMarks(app, pen, block, matrix, marked) {
  for (const row of range(block.rows))
    for (const col of range(block.cols)) {
      if (!marked.has(nameOf(matrix, row, col))) continue;
      const [x, y, w, h] = placeOf(block, row, col);
      pen.box(x + 1, y + 1, w - 2, h - 2, { stroke: app.theme.accent, width: 2.5, radius: 2 });
    }
}

// The legend of the colours, below the matrices.
export function paintLegend(app, pen, top, width) {
  const scale = scaleOf(app, "diverging");
  const steps = 48;
  const long = Math.min(160, width / 3);
  for (const i of range(steps)) {
    const colour = css(colourAt(scale, Math.round((i / (steps - 1)) * 255)));
    pen.box(8 + (i * long) / steps, top + 4, long / steps + 0.5, 9, { fill: colour });
  }
  const style = { size: 11, colour: app.theme.muted };
  pen.text("−1", 8, top + 22, style);
  pen.text("0", 8 + long / 2, top + 22, { ...style, align: "center" });
  pen.text("1 or more: fully restored", 8 + long - 6, top + 22, style);
  const x = Math.max(8 + long + 140, 300);
  if (x + 220 > width) return;
  pen.box(x, top + 4, 16, 12, { fill: app.theme.line });
  pen.text("cannot affect the answer", x + 22, top + 10, style);
  pen.hatch([[x, top + 20, 16, 12]]);
  pen.text("no partner, or not run", x + 22, top + 26, style);
}
