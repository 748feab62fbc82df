// The same picture for files.

import { exactText, siteName } from "../../../kit/js/text.js";
import { drawCells, rangesText } from "./cells.js";
import { pairTitle } from "./shell.js";
import { stepsOf } from "./steps.js";

export const figureName = ({ view }) => `neuron-${view.kind}-L${view.layer}-H${view.head}-q${view.row}-k${view.key}`;

export const siteOf = ({ payload: { header } }) => `${header.title}, ${siteName(header.layer, header.head)}`;

export const figureSize = (app) => [app.cellsLayout.width + 32, app.cellsLayout.height + 96 + 22 * stepsOf(app).length];

export function figure(app, pen) {
  pen.text(pairTitle(app), 16, 22, { size: 14, weight: 600 });
  drawCells(app, pen, [16, 44]);
  pen.text(rangesText(app.pair), 16, app.cellsLayout.height + 56, { size: 11, colour: app.theme.muted });
  const top = app.cellsLayout.height + 84;
  stepsOf(app).forEach(([, title, how, value], i) => {
    pen.text(title, 16, top + 22 * i, { weight: 600 });
    pen.text(how, 176, top + 22 * i, { colour: app.theme.muted });
    pen.text(exactText(value), app.cellsLayout.width, top + 22 * i, { weight: 600, align: "right" });
  });
}

export function csvRows(app) {
  const { pair, payload } = app;
  const rows = [["element", "query", "key", "product", "adds_to_score"]];
  for (const at of pair.order)
    rows.push([at, pair.query[at], pair.key[at], pair.product[at], pair.product[at] * payload.header.scale]);
  return rows;
}
