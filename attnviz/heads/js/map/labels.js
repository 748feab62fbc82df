// Names along a map's edges. Where more of them are than have room, one in so many is named; but what the picture is about
// always is: the row that a lesson asks about, the pinned one and the one under the pointer, the keys that it looks at
// most, the key under the pointer.

import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { range } from "../../../kit/js/cells.js";
import { isTemplate } from "../../../kit/js/spans/spans.js";
import { topKeys } from "../subject.js";
import { haveSameRows, isInFocus, sharesRows } from "./tiles.js";

const LABEL_LINE = 11; // from one label of a row, or column, to the next
const LEAST_INPUT = 28; // pixels of a row's label that its input and the arrow have at least
const STRONGEST = 3; // keys of a row that are always named,
const STRONG = 0.25; // if they have this share of the largest weight

export function drawLabels(app, pen, tile) {
  const { zoom, cell, angle } = tile.geometry;
  const about = aboutOf(app, tile);
  const acrossLabels = angle ? LABEL_LINE / Math.sin(-angle) : 0; // flat ones have room, every one
  const rows = placedNames({ from: zoom.top, to: zoom.bottom, size: cell.h, need: LABEL_LINE }, about.rows);
  const cols = placedNames({ from: zoom.left, to: zoom.right, size: cell.w, need: acrossLabels }, about.cols);
  const areNamed = !tile.place?.isNamedBefore; // by the map on the left
  for (const name of areNamed ? rows : [])
    drawRowLabel(app, pen, tile, { ...name, strong: [about.pinned, about.asked].includes(name.index) });
  for (const name of cols) drawColLabel(app, pen, tile, name);
  tile.named = { rows: rows.map(({ index }) => index), cols: cols.map(({ index }) => index) };
}

function aboutOf(app, tile) {
  const { kind } = tile;
  const isRow = (row) => Number.isInteger(row) && row < kind.nRows;
  const pinned = isRow(app.view.row) && sharesRows(app, kind.kind) ? app.view.row : null;
  const hover = app.hover?.kind === kind.kind ? app.hover : null;
  const hoverRow = app.hover && haveSameRows(app, app.hover.kind, kind.kind) ? app.hover.row : null;
  const seen = [pinned, hoverRow].filter(isRow);
  const looked = seen.length ? strongestKeys(tile, seen[0]) : [];
  const asked = isInFocus(app, tile) ? (app.payload.header.lesson?.row ?? null) : null;
  const rows = [...seen, asked].filter(isRow);
  return { pinned, asked, rows, cols: [...looked, ...(Number.isInteger(hover?.col) ? [hover.col] : [])] };
}

function strongestKeys({ kind, map }, row) {
  const top = topKeys(kind, map, row).slice(0, STRONGEST);
  const least = STRONG * Math.abs(top[0]?.[1] ?? 0);
  return top.filter(([, weight]) => weight && Math.abs(weight) >= least).map(([col]) => col);
}

// Where names are drawn along an axis: {index, at, middle}, in pixels from the first cell's edge. What is `wanted` is
// moved beside its cell where two of these would meet; the others keep away from them.
function placedNames({ from, to, size, need }, wanted) {
  const middle = (index) => (index - from + 0.5) * size;
  const inside = [...new Set(wanted)].filter((index) => index >= from && index < to).sort((a, b) => a - b);
  const firm = apart(inside.map(middle), need, (to - from) * size).map((at, i) => ({
    index: inside[i],
    at,
    isFirm: true,
  }));
  const step = Math.max(1, Math.ceil(need / size));
  const others = range(Math.ceil((to - from) / step))
    .map((i) => ({ index: from + i * step, at: middle(from + i * step) }))
    .filter(({ index, at }) => !inside.includes(index) && firm.every((name) => Math.abs(name.at - at) >= need));
  return [...firm, ...others].map((name) => ({ ...name, middle: middle(name.index) }));
}

// Places in their order, at least `need` from each other, and none beyond the end unless there are too many.
function apart(places, need, end) {
  const moved = [...places];
  for (let i = 1; i < moved.length; i++) moved[i] = Math.max(moved[i], moved[i - 1] + need);
  for (let i = moved.length - 1, limit = end; i >= 0; i--, limit = moved[i + 1] - need)
    moved[i] = Math.min(moved[i], limit);
  return moved;
}

// Input, arrow and output are three strokes, so that a right-to-left token cannot turn them round.
function drawRowLabel(app, pen, tile, { index, at, middle, strong = false }) {
  const { geometry, kind } = tile;
  const [input, output] = kind.rows[index];
  const y = geometry.y + at;
  const weight = strong ? 700 : 400;
  const size = geometry.labelSize;
  const start = geometry.x - 8 - geometry.band.rows;
  const italic = isTemplate(kind.row_spans, index);
  let right = start;
  if (Math.abs(at - middle) > 1) pen.line(right + 1, y, right + 6, geometry.y + middle, { stroke: app.theme.faint });
  if (output !== null) {
    const room =
      input === null ? geometry.labelWidth : Math.max(geometry.labelWidth * 0.55, geometry.labelWidth - LEAST_INPUT);
    const text = shortened(pen, output, room, { weight, size });
    pen.text(text, right, y, { weight, size, align: "right" });
    right -= pen.widthOf(text, size, weight);
    if (input !== null) {
      pen.text(" → ", right, y, { size, align: "right", colour: app.theme.faint });
      right -= pen.widthOf(" → ", size);
    }
  }
  if (input === null) return;
  const room = right - (start - geometry.labelWidth);
  const style = output === null && !italic ? { weight, size } : { colour: app.theme.muted, size, italic };
  pen.text(shortened(pen, input, room, style), right, y, { ...style, align: "right" });
}

function drawColLabel(app, pen, { geometry, kind }, { index, at, middle, isFirm = false }) {
  const text = kind.cols[index];
  const x = geometry.x + at;
  const weight = isFirm ? 600 : 400;
  const { angle, longest } = geometry;
  const y = geometry.y - geometry.band.cols;
  const style = isTemplate(kind.spans, index) ? { weight, italic: true, colour: app.theme.muted } : { weight };
  if (!angle) return pen.text(text, x, y - 9, { ...style, align: "center" });
  if (Math.abs(at - middle) > 1) pen.line(x, y - 6, geometry.x + middle, y - 1, { stroke: app.theme.faint });
  pen.text(shortened(pen, text, longest, style), x + 1, y - 7, { ...style, angle });
}
