// The same picture for files, and its numbers.

import { range } from "../../../kit/js/cells.js";
import { paintLegend, paintMatrices } from "./draw.js";
import { LEGEND, layoutOf } from "./layout.js";
import { MEASURED, SAID, numbersOf } from "./numbers.js";
import { titleOf } from "./shell.js";

const WIDTH = 980;

const laidOut = (app) => layoutOf(app.payload.header, WIDTH);

export const siteOf = (app) => titleOf(app.payload.header);

export const figureName = (app) => `patching-step-${app.payload.header.step}`;

export function figureSize(app) {
  const { width, height } = laidOut(app);
  return [Math.max(WIDTH, width), height + 6];
}

export function figure(app, pen) {
  const layout = laidOut(app);
  paintMatrices(app, pen, layout, { marked: new Set(app.view.put) });
  paintLegend(app, pen, layout.height - LEGEND, Math.max(WIDTH, layout.width));
  return "";
}

export function csvRows(app) {
  const lines = [["where", "layer", "column", "name", "restored", "control", "metric", "note"]];
  app.payload.header.matrices.forEach((matrix, at) => {
    const numbers = numbersOf(app, at);
    const [rows, cols] = matrix.size;
    for (const row of range(rows))
      for (const col of range(cols)) {
        const cell = row * cols + col;
        const isMeasured = numbers.state[cell] === MEASURED;
        const values = ["share", "moved", "patched"].map((name) => (isMeasured ? numbers[name][cell] : ""));
        const layer = row + matrix.first_layer < 0 ? "embedding" : row + matrix.first_layer;
        lines.push([matrix.where, layer, col, matrix.cols[col], ...values, SAID[numbers.state[cell]] ?? ""]);
      }
  });
  return lines;
}
