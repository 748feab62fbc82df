// Where the four maps are: side by side with one row axis, or one below the other on a phone. CSS pixels.

import { BAND } from "../../kit/js/spans/bands.js";
import { sizeOf, within, zoomOf } from "./zoom_window.js";

export const LINE = 12;
export const SLOPE = -Math.PI / 3.2;
const MOST_CELL = 40;
export const GAP = 16;
export const TITLES = 36;
const SUMS = 52;

const isNarrow = (width) => width < 700; // maps stand one below the other

export function layoutOf(app, pen, width, room) {
  const { d } = app.payload;
  const zoom = zoomOf(app);
  const [rows, keys] = [sizeOf(zoom.rows), sizeOf(zoom.keys)];
  const { row_spans: ofRows, spans } = app.payload.header;
  const band = { rows: ofRows ? BAND + 3 : 0, keys: spans ? BAND + 3 : 0 }; // for the turns of a conversation
  const names = Math.min(
    width * (isNarrow(width) ? 0.34 : 0.22),
    150,
    10 + Math.max(30, ...app.rowNames.map((name) => pen.widthOf(name, LINE, 600))),
  );
  const labels = names + band.rows;
  const heads =
    band.keys +
    Math.min(88, 12 + Math.max(20, ...app.payload.header.cols.map((text) => pen.widthOf(text, 11))) * Math.sin(-SLOPE));
  const place = { width, room, labels, heads, top: TITLES + heads, rows, keys, d };
  return { ...(isNarrow(width) ? stacked(place) : sideBySide(place)), labels, heads, band, zoom, width };
}

function sideBySide({ width, room, labels, heads, top, rows, keys, d }) {
  const contextWidth = d ? Math.min(150, Math.max(80, width * 0.12)) : 0;
  const free = width - labels - SUMS - contextWidth - 4 * GAP - heads * 0.5;
  const w = Math.min(MOST_CELL, free / (3 * keys));
  const least = Math.min(room < 300 ? 4 : 3, 400 / rows);
  const h = Math.max(least, Math.min(MOST_CELL, (room - top - 6) / rows));
  const boxes = [];
  const size = { y: top, h: h * rows };
  let x = labels + 4;
  for (const name of ["scores", "masked", "attn"]) {
    boxes.push({ ...size, name, x, w: w * keys, keys: true });
    x += w * keys + GAP;
  }
  boxes.push({ ...size, name: "sums", x: x - GAP + 4, w: SUMS });
  if (d) boxes.push({ ...size, name: "context", x: x + SUMS, w: contextWidth });
  return { boxes, labelled: new Set(["scores"]), cell: { w, h }, height: top + h * rows + 8 };
}

function stacked({ width, labels, top, rows, keys, d }) {
  const w = Math.min(MOST_CELL, (width - labels - SUMS - 24) / keys);
  const h = Math.max(Math.min(3, 400 / rows), Math.min(18, w * 1.1));
  const boxes = [];
  let y = 0;
  for (const name of ["scores", "masked", "attn", ...(d ? ["context"] : [])]) {
    const isContext = name === "context";
    const size = { y: y + (isContext ? TITLES : top), h: h * rows };
    boxes.push({ ...size, name, x: labels + 4, w: isContext ? width - labels - 30 : w * keys, keys: !isContext });
    if (name === "attn") boxes.push({ ...size, name: "sums", x: labels + 8 + w * keys, w: SUMS });
    y = size.y + size.h + 10;
  }
  return { boxes, labelled: new Set(["scores", "masked", "attn", "context"]), cell: { w, h }, height: y + 6 };
}

// Columns that a box draws: [first, after the last].
export function columnsOf(app, box) {
  return box.keys ? app.layout.zoom.keys : [0, box.name === "context" ? app.payload.d : 1];
}

export const topOf = (app, box, row) => box.y + (row - app.layout.zoom.rows[0]) * app.layout.cell.h;
export const leftOf = (app, box, col) => box.x + (col - app.layout.zoom.keys[0]) * app.layout.cell.w;

export function cellAt(app, x, y) {
  const { boxes, labels, heads, cell, zoom, labelled } = app.layout;
  for (const box of boxes) {
    const [from, to] = columnsOf(app, box);
    const row = zoom.rows[0] + Math.floor((y - box.y) / cell.h);
    const col = from + Math.floor(((x - box.x) / box.w) * (to - from));
    const inRows = within(row, zoom.rows);
    const inCols = within(col, [from, to]);
    if (inRows && inCols) return { box, row, col };
    if (inRows && x < box.x && x > box.x - labels && labelled.has(box.name)) return { box, row, col: null };
    if (inCols && y < box.y && y > box.y - heads && box.keys) return { box, row: null, col };
  }
  return null;
}
