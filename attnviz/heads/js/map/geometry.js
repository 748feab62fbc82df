// Where a map's cells and labels are in a box; all lengths in CSS pixels.

import { clamp } from "../../../kit/js/cells.js";
import { bandRoom } from "./bands.js";

const LABEL = 12;
const LARGEST_CELL = 64; // and a fifth of the height that there is: a short sentence fills it, too
const READABLE = 14;
export const GAPS = 9; // pixels: smaller cells lie without gaps between them
// How much wider than high a cell may be, and how much higher than wide. Maps that are drawn together have to fill their
// room more than to be square.
const ALONE = { wider: 1.6, higher: 1.25 };
const TOGETHER = { wider: 2.6, higher: 2 };
export const AXIS = 18;
// Labels of columns are flat where every one fits, and else at the gentlest of these at which lines keep apart.
const ANGLES = [40, 62, 90].map((degrees) => (-degrees * Math.PI) / 180);
const LINE = 11.5; // from one slanted line of text to the next

// `tile.place` is what maps that are drawn together have in common (arrange.js).
export function geometryOf(pen, tile, box) {
  const { nRows, nCols, names: widths } = (tile.measured ??= measure(pen, tile));
  const band = bandRoom(tile);
  const { axis, left } = tile.place ?? { axis: AXIS, left: AXIS + rowLabelWidth(pen, tile, box.w) + 8 + band.rows };
  const longest = tile.heading ? clamp(box.h * 0.3, 50, 96) : 96;
  const names = widths.map((width) => Math.min(longest, width));
  const fit = (angle) => fitted(tile, box, { nRows, nCols, left, names, angle, band });
  const flat = fit(0);
  const placed =
    Math.max(...names, 8) + 4 <= flat.cell.w
      ? flat
      : (ANGLES.map(fit).find(({ cell, angle }) => cell.w * Math.sin(-angle) >= LINE) ?? fit(ANGLES[2]));
  const labelWidth = Math.max(0, left - axis - 8 - band.rows);
  return { box, nRows, nCols, zoom: tile.zoom, longest, labelWidth, band, ...placed };
}

// Names are measured once, however many places are tried for a map.
function measure(pen, { kind, zoom }) {
  const names = kind.cols.slice(zoom.left, zoom.right).map((text) => pen.widthOf(text, LABEL));
  return { nRows: zoom.bottom - zoom.top, nCols: zoom.right - zoom.left, names };
}

// Cells and their place with the columns' labels at an angle.
function fitted(tile, box, { nRows, nCols, left, names, angle, band }) {
  const across = colLabelSpace(names, angle);
  const top = Math.max(across.height + 6 + band.cols + (tile.heading ? 20 : 0), tile.place?.top ?? 0);
  const bottom = hasKeyAxis(tile) ? AXIS : 2;
  const space = { w: box.w - left - across.overhang - 2, h: box.h - top - bottom };
  const isZoomed = nRows < tile.kind.nRows || nCols < tile.kind.nCols;
  const largest = Math.max(LARGEST_CELL, box.h / 5);
  const most = isZoomed ? 2 * largest : largest;
  const cell = cellSize(space, {
    nRows,
    nCols,
    most,
    high: tile.place?.high ?? most,
    shape: tile.heading ? TOGETHER : ALONE,
  });
  const w = cell.w * nCols;
  const h = cell.h * nRows;
  const x = box.x + left + Math.floor(Math.max(0, space.w - w) / 2);
  return { cell, w, h, x, y: box.y + top, angle, labelSize: Math.min(LABEL, Math.max(10, cell.h - 1)) };
}

// Maps side by side have the title of their keys once, at the bottom, and that of their queries once, on the left.
export const hasKeyAxis = ({ place }) => !place || place.isLowest;

// About square, but where there are many more keys than queries, or the other way: there a line of text tells how high
// or wide a cell may be, for a map of cells as low as they are narrow would be a line itself.
function cellSize(space, { nRows, nCols, most, high, shape }) {
  let w = Math.min(most, Math.max(0.5, space.w / nCols));
  let h = Math.min(most, high, Math.max(0.5, space.h / nRows));
  w = Math.min(w, Math.max(h * shape.wider, READABLE));
  h = Math.min(h, Math.max(w * shape.higher, READABLE));
  const whole = (side) => (side >= GAPS ? Math.floor(side) : Math.floor(side * 8) / 8 || 0.5);
  return { w: whole(w), h: whole(h) };
}

// As wide as the widest label; at most a part of the room, and half of it where few columns leave so much.
export function rowLabelWidth(pen, { kind, zoom, heading }, room) {
  const nCols = zoom.right - zoom.left;
  const most = Math.min(190, Math.max(room * (heading ? 0.36 : 0.3), Math.min(room * 0.5, room - 70 - 22 * nCols)));
  let widest = 24;
  for (const [input, output] of kind.rows) {
    const parts = [input, output].filter((part) => part !== null);
    widest = Math.max(widest, pen.widthOf(parts.join(" → "), LABEL, 600));
    if (widest >= most) return most;
  }
  return widest;
}

function colLabelSpace(names, angle) {
  if (!angle) return { height: 16, overhang: 6 };
  const last = Math.max(...names.slice(-3), 0);
  const height = Math.max(...names, 8) * Math.sin(-angle) + 14;
  return { height, overhang: Math.max(8, last * Math.cos(angle) - 4) };
}

// The cell under a point, or null.
export function cellAt(geometry, [x, y]) {
  const col = Math.floor((x - geometry.x) / geometry.cell.w);
  const row = Math.floor((y - geometry.y) / geometry.cell.h);
  if (col < 0 || col >= geometry.nCols || row < 0 || row >= geometry.nRows) return null;
  return { row: row + geometry.zoom.top, col: col + geometry.zoom.left };
}

// The row whose label or cells are at a point, or null.
export function rowAt(geometry, [x, y]) {
  const row = Math.floor((y - geometry.y) / geometry.cell.h);
  const inside = x >= geometry.box.x && x < geometry.x + geometry.w && row >= 0 && row < geometry.nRows;
  return inside ? row + geometry.zoom.top : null;
}

// The column whose name is at a point over the map, or null: slanted names rise from their column to the right.
export function colAt(geometry, [x, y]) {
  const { angle, box, band } = geometry;
  if (y >= geometry.y || y < box.y) return null;
  const foot = angle ? x - Math.max(0, geometry.y - band.cols - y) / Math.tan(-angle) : x;
  const col = Math.floor((foot - geometry.x) / geometry.cell.w);
  return col >= 0 && col < geometry.nCols ? col + geometry.zoom.left : null;
}

export const rowTop = (geometry, row) => geometry.y + (row - geometry.zoom.top) * geometry.cell.h;
export const colLeft = (geometry, col) => geometry.x + (col - geometry.zoom.left) * geometry.cell.w;
