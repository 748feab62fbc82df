// The picture, drawn by a pen: on the screen and in files alike.

import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { rowName } from "../../../kit/js/text.js";
import { css } from "../../../kit/js/theme.js";
import { layoutOf, pointsOf } from "./layout.js";

const THINNEST = 0.3; // pixels: a ribbon below is not drawn
const LETTER = 11;

// The other one's numbers may not be here yet: only Python computes them.
export const methodOf = ({ payload, view }) => (payload.header.read[view.by] ? view.by : "rollout");

export const figureName = (app) => `flow-${methodOf(app)}-row-${app.view.row}`;
export const siteOf = (app) =>
  `${titleOf(app)}, row ${app.view.row}: ${rowName(app.payload.header.rows[app.view.row])}`;
export const figureSize = (app) => [Math.max(640, app.layout.width), app.layout.height + 44];

export const titleOf = (app) =>
  methodOf(app) === "alti" ? "ALTI" : `Rollout with a residual share of ${(app.view.residual / 100).toFixed(2)}`;

export function figure(app, pen) {
  const [width, height] = figureSize(app);
  paintFlow(app, pen, layoutOf(app.flow, [width, height - 44]));
  pen.text(shortened(pen, siteOf(app), width - 24, { size: 13, weight: 600 }), 12, height - 32, {
    size: 13,
    weight: 600,
  });
  const note = shortened(pen, notesOf(app).join(" · "), width - 24, { size: 11 });
  pen.text(note, 12, height - 12, { size: 11, colour: app.theme.muted });
}

export function paintFlow(app, pen, layout) {
  const { theme, payload } = app;
  const colours = { encoder: theme.accentRGB, decoder: theme.inkRGB };
  for (const curve of layout.curves) {
    if (curve.w < THINNEST) continue;
    const alpha = curve.to[0] === "encoder" ? 0.34 : 0.2;
    pen.path(pointsOf(curve), { stroke: css(colours[curve.to[0]], alpha), width: curve.w });
  }
  for (const stack of ["encoder", "decoder"])
    layout.boxes[stack].forEach((column, height) => {
      for (const { x, y, w, h } of column) if (h > 0.2) pen.box(x, y, w, Math.max(1, h), { fill: css(colours[stack]) });
      if (column.length) pen.text(columnName(payload.header, stack, height), column[0].x + 4, 12, nameLook(theme));
    });
  paintTokens(app, pen, layout, "encoder", payload.header.source);
  paintTokens(app, pen, layout, "decoder", payload.header.target);
}

const nameLook = ({ muted }) => ({ size: 10.5, colour: muted, align: "center" });

// Height 0 is the text itself.
export function columnName({ sublayers }, stack, height) {
  if (!height)
    return stack === "encoder" ? "source" : sublayers.some(({ kind }) => kind === "cross") ? "target" : "text";
  const kind = `${stack}_self`;
  return `${stack === "encoder" ? "enc" : "dec"} ${sublayers.filter((one) => one.kind === kind)[height - 1].layer}`;
}

// Names of as many tokens as there is room for, those of the largest shares first.
function paintTokens({ theme }, pen, { boxes, text }, stack, names) {
  const column = boxes[stack][0] ?? [];
  const taken = [];
  const there = column.map((_, at) => at).filter((at) => column[at].share > 0);
  for (const at of there.sort((a, b) => column[b].share - column[a].share)) {
    const { x, y, h, share } = column[at];
    const middle = y + h / 2;
    if (taken.some((other) => Math.abs(other - middle) < LETTER + 1)) continue;
    taken.push(middle);
    const colour = share >= 0.005 ? theme.ink : theme.muted;
    pen.text(shortened(pen, names[at], text - 14, { size: LETTER }), x - 5, middle, {
      size: LETTER,
      align: "right",
      colour,
    });
  }
}

// Notes on what is drawn and what is left out, the same in files.
export function notesOf(app) {
  const thin = app.flow.faint + app.layout.curves.filter(({ w }) => w < THINNEST).length;
  const notes = [
    "one column per layer; height: the row's share from each token. Each column sums to 1, with what has left it",
  ];
  notes.push("feed-forward networks and norms are left out");
  if (methodOf(app) === "rollout") notes.push("the mean of all heads' weights; values are ignored");
  if (thin) notes.push(`${thin.toLocaleString("en")} ribbons thinner than ${THINNEST} pixels are not drawn`);
  return notes;
}

export function csvRows(app) {
  const { header } = app.payload;
  const rows = [["row", "row_in", "row_out", "text", "position", "token", "share", "max_flow"]];
  const { row, residual } = app.view;
  const by = methodOf(app);
  const flow = flowInForce(app);
  for (const text of ["source", "target"])
    header[text].forEach((token, at) =>
      rows.push([row, ...header.rows[row], text, at, token, app.flow[text][at], flow?.[text][at] ?? ""]),
    );
  return [
    [...rows[0], "method", "residual"],
    ...rows.slice(1).map((line) => [...line, by, by === "rollout" ? residual / 100 : ""]),
  ];
}

// The maximum flow that Python sent, if it is of the row and the share that are in view.
export function flowInForce({ payload, view }) {
  const { flow } = payload.header;
  return view.flow && flow && flow.row === view.row && flow.residual === view.residual ? flow : null;
}
