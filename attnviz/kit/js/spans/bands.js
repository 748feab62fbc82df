// Bands along the axes of a drawn picture: a strip beside the cells for each span, with its name where that fits.

import { shortened } from "../pens/canvas_pen.js";
import { css, mix, rgbOf } from "../theme.js";
import { spansWithin } from "./spans.js";

export const BAND = 15; // pixels across a band with its name
export const THIN = 2; // and across one between small maps, without
const LETTERS = 10;
const LEAST_NAME = 18; // pixels along a band that begins of a name need

const LEAST_SIGNS = 4; // of a name that is cut, its … among them

const ROLES = ["system", "user", "assistant"];

// The colours of a role as css/spans.css has them: `line` at the cells, `fill` below the name.
export function roleColours(app, role) {
  if (app.roleColours?.key !== app.theme.key) app.roleColours = { key: app.theme.key };
  return (app.roleColours[role] ??= readColours(app, ROLES.includes(role) ? role : "named"));
}

function readColours(app, name) {
  const rgb = rgbOf(getComputedStyle(app.root).getPropertyValue(`--role-${name}`).trim());
  return { line: css(rgb), fill: css(mix(rgb, app.theme.paperRGB, 0.24)) };
}

// Bands over columns: `x` is the left edge of the first, `w` the width of each, `y` the lower edge of the band.
export function drawBandsAbove(app, pen, spans, { x, y, w, window, across = BAND }) {
  for (const { name, role, start, end } of spansWithin(spans, window)) {
    const { line, fill } = roleColours(app, role);
    const [left, long] = gapped(x + start * w, (end - start) * w);
    pen.box(left, y - across, long, across, { fill });
    pen.box(left, y - 2, long, 2, { fill: line });
    drawName(app, pen, name, { at: [left + long / 2, y - across / 2 - 1], long, across });
  }
}

// Bands beside rows: `y` is the upper edge of the first, `h` the height of each, `x` the right edge of the band.
export function drawBandsBeside(app, pen, spans, { x, y, h, window, across = BAND }) {
  for (const { name, role, start, end } of spansWithin(spans, window)) {
    const { line, fill } = roleColours(app, role);
    const [top, long] = gapped(y + start * h, (end - start) * h);
    pen.box(x - across, top, across, long, { fill });
    pen.box(x - 2, top, 2, long, { fill: line });
    drawName(app, pen, name, { at: [x - across / 2 - 1, top + long / 2], long, across, angle: -Math.PI / 2 });
  }
}

// Neighbouring bands are told apart by a pixel between them.
const gapped = (from, long) => (long > 4 ? [from + 0.5, long - 1] : [from, long]);

function drawName(app, pen, name, { at, long, across, angle = 0 }) {
  if (across < BAND || long < LEAST_NAME) return;
  const style = { size: LETTERS, align: "center", angle };
  const text = shortened(pen, name, long - 4, style);
  if (text === name || text.length > LEAST_SIGNS) pen.text(text, ...at, style);
}
