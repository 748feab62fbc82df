// The same picture for files, and its numbers.

import { ROW, barsHeight, paintBars } from "./bars.js";
import { ordered } from "./choice.js";
import { openedBars } from "./opened.js";
import { sumText, titleOf } from "./shell.js";

const WIDTH = 860;
const TITLE = 24;
const BESIDE = "Broad: adds directly; thin: falls without it.";

export const siteOf = (app) => titleOf(app.payload.header);

export const figureName = (app) => `logit-step-${app.payload.header.step}`;

export function figureSize(app) {
  const opened = openedBars(app);
  const below = opened ? TITLE + barsHeight(opened.bars.length) : 0;
  return [WIDTH, TITLE + ROW + barsHeight(app.payload.header.bars.length) + below];
}

export function figure(app, pen) {
  const { header } = app.payload;
  const bars = ordered(app);
  pen.text(titleOf(header), 12, 12, { size: 13, weight: 600 });
  const beside = header.has_drops ? ` ${BESIDE}` : "";
  pen.text(sumText(header) + beside, 12, TITLE + 6, { size: 10.5, colour: app.theme.muted });
  paintBars(pen, app.theme, bars, { top: TITLE + ROW, width: WIDTH });
  const opened = openedBars(app);
  if (!opened) return "";
  const top = TITLE + ROW + barsHeight(bars.length);
  pen.text(opened.title, 12, top + 12, { size: 12, weight: 600 });
  paintBars(pen, app.theme, opened.bars, { top: top + TITLE, width: WIDTH });
  return "";
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
