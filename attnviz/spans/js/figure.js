// The picture for files, and its numbers.

import { range } from "../../kit/js/cells.js";
import { saveCSV } from "../../kit/js/downloads.js";
import { shortened } from "../../kit/js/pens/canvas_pen.js";
import { layerCells, layerNames, siteName } from "../../kit/js/text.js";
import { barRows, layoutBars, paintBars } from "./bars.js";
import { answerName, answerShares, answerText, columnsOf, isByNorm } from "./choice.js";
import { columnColour } from "./colours.js";
import { layoutMap, mapRows, paintMap } from "./map.js";

const SIZE = [880, 330];
const GAP = 24;
const LINE = 18;

export const figureName = ({ view }) => `spans-layer-${view.layer}-head-${view.head}`;

export const siteOf = (app) =>
  `Spans of decoder self-attention: ${answerName(app)}, ${siteName(app.view.layer, app.view.head)}`;

function partsOf(app) {
  const map = layoutMap(app, [380, SIZE[1]]);
  const bars = layoutBars(app, [SIZE[0] - map.width - GAP, SIZE[1]]);
  return { map, bars, height: Math.max(map.height, SIZE[1]) + LINE };
}

export function figureSize(app) {
  const { map, bars, height } = partsOf(app);
  return [Math.ceil(bars.width + GAP + map.width), Math.ceil(height + 46)];
}

export function figure(app, pen) {
  const { map, bars, height } = partsOf(app);
  const [width] = figureSize(app);
  paintLegend(app, pen, width);
  const moved = shifted(pen, 0, LINE);
  paintBars(app, moved, bars);
  paintMap(app, shifted(pen, bars.width + GAP, LINE), map);
  const bold = { size: 13, weight: 600 };
  pen.text(shortened(pen, siteOf(app), width - 24, bold), 12, height + 14, bold);
  const note = shortened(pen, notesOf(app).join(" · "), width - 24, { size: 11 });
  pen.text(note, 12, height + 34, { size: 11, colour: app.theme.muted });
}

function paintLegend(app, pen, width) {
  let x = 12;
  for (const column of columnsOf(app)) {
    const name = shortened(pen, app.payload.header.columns[column], 120, { size: 11 });
    const w = pen.widthOf(name, 11) + 26;
    if (x + w > width) break;
    pen.box(x, 4, 10, 10, { fill: columnColour(app, column), radius: 2 });
    pen.text(name, x + 14, 9, { size: 11 });
    x += w;
  }
}

// The same pen with another place for its zero.
const shifted = (pen, dx, dy) => ({
  ...pen,
  text: (text, x, y, style) => pen.text(text, x + dx, y + dy, style),
  box: (x, y, w, h, style) => pen.box(x + dx, y + dy, w, h, style),
  line: (x1, y1, x2, y2, style) => pen.line(x1 + dx, y1 + dy, x2 + dx, y2 + dy, style),
});

// What is drawn and what is left out, the same in files.
export function notesOf(app) {
  const { view } = app;
  const notes = [
    `a share says what heads look at, not what ${answerText(app.payload.header)} needs: hide a span to see that`,
  ];
  notes.push(
    view.first
      ? "the first token, the usual sink, is counted in no span"
      : "the first token is left out, the rest scaled to 1",
  );
  if (view.per_token) notes.push("shares for each token of a span; bars scaled to one height");
  if (isByNorm(app)) notes.push("by the norm of what is written, ‖αf(x)‖; a bias and what norms do later are left out");
  return notes;
}

// A line for each head: its share to each column, from the answer or the token that is looked at.
export function csvRows(app) {
  const { header } = app.payload;
  const columns = columnsOf(app);
  const lines = [[...layerNames(header.numbers), "head", ...columns.map((at) => header.columns[at])]];
  for (const layer of range(header.layers))
    for (const head of range(header.heads)) {
      const shares = answerShares(app, [[layer, head]]);
      lines.push([...layerCells(header.numbers, layer), head, ...columns.map((at) => shares[at])]);
    }
  return lines;
}

function causeRows({ payload: { header } }) {
  const lines = [["span", "share", "logprob_without", "difference", "logprob"]];
  for (const line of header.cause?.lines ?? []) lines.push([...line, header.cause.logprob]);
  return lines;
}

export const moreFiles = [
  ["CSV of the bars", (app) => saveCSV(`attnviz-${figureName(app)}-tokens`, barRows(app))],
  ["CSV of the map", (app) => saveCSV(`attnviz-${figureName(app)}-map`, mapRows(app))],
  ["CSV of hidden spans", (app) => saveCSV(`attnviz-${figureName(app)}-hidden`, causeRows(app))],
];
