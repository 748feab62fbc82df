// The rows of one head, a pixel for each weight on a sheet of its own: a new row is painted alone, and the sheet is
// laid on the canvas.

import { element } from "../../../kit/js/elements.js";
import { pointIn, sharpness } from "../../../kit/js/resize.js";
import { exactText, siteName } from "../../../kit/js/text.js";
import { scaleOf } from "../../../kit/js/theme.js";
import { hideTip, placeTip } from "../../../kit/js/tip.js";
import { peakOf } from "./message.js";
import { look } from "./words.js";

const ROOM = 256; // rows of the first sheet

export function paintMap(app) {
  const { text, theme } = app;
  const scale = scaleOf(app, "sequential");
  const sheet = sheetFor(app, text.rows.length, `${text.key}|${text.site}|${theme.name}`);
  const pen = sheet.getContext("2d");
  for (let at = text.drawnRows; at < text.rows.length; at++) pen.putImageData(imageOf(text.rows[at], scale), 0, at);
  text.drawnRows = text.rows.length;
}

// Grown sheets and other heads are painted from the first row on.
function sheetFor(app, rows, name) {
  const before = app.sheet;
  if (before && before.name === name && before.canvas.width >= rows) return before.canvas;
  let side = ROOM;
  while (side < rows) side *= 2;
  app.sheet = { name, canvas: element("canvas", { width: side, height: side }) };
  app.text.drawnRows = 0;
  return app.sheet.canvas;
}

function imageOf(row, scale) {
  const image = new ImageData(row.length, 1);
  const pixels = new Uint32Array(image.data.buffer);
  const factor = 255 / peakOf(row);
  for (let key = 0; key < row.length; key++) pixels[key] = scale.pixels[Math.min(255, Math.round(row[key] * factor))];
  return image;
}

// Lays the rows on the canvas, with a line after the prompt and a frame around the row in view.
export function paintRow(app) {
  const { parts, text, theme, sheet, at } = app;
  const side = Math.max(40, Math.min(...app.sizes));
  const sharp = sharpness();
  const { map } = parts;
  if (map.width !== Math.round(side * sharp)) map.width = map.height = Math.round(side * sharp);
  map.style.width = map.style.height = `${side}px`;
  const pen = map.getContext("2d");
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.clearRect(0, 0, side, side);
  const rows = text.rows.length;
  app.cell = side / Math.max(rows, 1);
  if (!rows) return;
  pen.imageSmoothingEnabled = rows > map.width;
  pen.drawImage(sheet.canvas, 0, 0, rows, rows, 0, 0, side, side);
  pen.strokeStyle = theme.faint;
  const split = text.prompt * app.cell;
  pen.beginPath();
  pen.moveTo(0, split);
  pen.lineTo(side, split);
  pen.moveTo(split, split);
  pen.lineTo(split, side);
  pen.stroke();
  pen.strokeStyle = theme.accent;
  pen.lineWidth = 1.5;
  pen.strokeRect(0, (at - 1) * app.cell, side, Math.max(app.cell, 2));
  map.setAttribute("aria-label", `Attention of ${siteName(...text.site)}: ${rows} rows`);
}

function cellAt(app, event) {
  const [x, y] = pointIn(app.parts.map, event);
  const [key, row] = [x, y].map((length) => Math.floor(length / app.cell));
  return row >= 0 && key >= 0 && key <= row && row < app.text.rows.length ? { row, key } : null;
}

export function watchMap(app) {
  const { map, tip } = app.parts;
  map.onclick = (event) => {
    const cell = app.text && cellAt(app, event);
    if (cell) look(app, cell.row + 1);
  };
  map.onpointermove = (event) => {
    const cell = app.text && app.cell && cellAt(app, event);
    if (!cell) return hideTip(tip);
    const { tokens, rows } = app.text;
    const words = [cell.row, cell.row + 1, cell.key].map((at) => tokens[at]?.[0] ?? "");
    tip.replaceChildren(`${words[0]} → ${words[1]} looks at ${words[2]}: ${exactText(rows[cell.row][cell.key])}`);
    placeTip(tip, app.parts.mapBox, pointIn(app.parts.mapBox, event));
  };
  map.onpointerleave = () => hideTip(tip);
}
