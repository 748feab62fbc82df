// The same picture for files, and its numbers.

import { ROW, barsHeight, paintBars } from "./bars.js";
import { ordered } from "./choice.js";
import { lensHeight, paintLens, saveLens } from "./lens_figure.js";
import { openedBars } from "./opened.js";
import { sumText, titleOf } from "./shell.js";

const WIDTH = 860;
const TITLE = 24;
const BESIDE = "Wide bar: what the part adds directly. Thin bar: how far the logit falls without it.";

export const moreFiles = [["CSV of the logit lens", saveLens]];

export const siteOf = (app) => titleOf(app.payload.header);

export const figureName = (app) => `logit-step-${app.payload.header.step}`;

export function figureSize(app) {
  const { bars, lenses } = app.payload.header;
  const opened = openedBars(app);
  const below = opened ? TITLE + barsHeight(opened.bars.length) : 0;
  const beyond = lenses.reduce((sum, lens) => sum + lensHeight(lens), 0);
  return [WIDTH, TITLE + ROW + barsHeight(bars.length) + below + beyond];
}

export function figure(app, pen) {
  const { header } = app.payload;
  const bars = ordered(app);
  pen.text(titleOf(header), 12, 12, { size: 13, weight: 600 });
  const beside = header.has_drops ? ` ${BESIDE}` : "";
  pen.text(sumText(header) + beside, 12, TITLE + 6, { size: 10.5, colour: app.theme.muted });
  paintBars(pen, app.theme, bars, { top: TITLE + ROW, width: WIDTH });
  let top = paintOpened(app, pen, TITLE + ROW + barsHeight(bars.length));
  for (const lens of header.lenses) {
    paintLens(pen, app.theme, lens, { top, width: WIDTH });
    top += lensHeight(lens);
  }
  return "";
}

// The head's bar that is open, if one is; where the next thing begins.
function paintOpened(app, pen, top) {
  const opened = openedBars(app);
  if (!opened) return top;
  pen.text(opened.title, 12, top + 12, { size: 12, weight: 600 });
  paintBars(pen, app.theme, opened.bars, { top: top + TITLE, width: WIDTH });
  return top + TITLE + barsHeight(opened.bars.length);
}

export function csvRows(app) {
  const { header } = app.payload;
  const lines = [["part", "name", "head", "through", "adds", "falls_without_it"]];
  for (const bar of header.bars) lines.push([bar.part, bar.name, bar.head, "", bar.value, bar.drop ?? ""]);
  for (const [site, { size, cols, values }] of Object.entries(header.opened)) {
    const [heads, keys] = size;
    const numbers = app.payload.array(Float32Array, values, heads * keys);
    numbers.forEach((value, i) => {
      const [head, key] = [Math.floor(i / keys), i % keys];
      lines.push(["token", `${site}.${head} through ${cols[key]} #${key}`, `${site}.${head}`, cols[key], value, ""]);
    });
  }
  return lines;
}
