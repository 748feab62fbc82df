// The four maps with their labels, hatching and outlines. The same strokes go to the screen and into files.

import { canvasPen, sharpContext, shortened } from "../../kit/js/pens/canvas_pen.js";
import { range, runsOf } from "../../kit/js/cells.js";
import { drawBandsAbove, drawBandsBeside } from "../../kit/js/spans/bands.js";
import { isTemplate } from "../../kit/js/spans/spans.js";
import { mayAttend } from "./cells.js";
import { GAP, LINE, SLOPE, TITLES, layoutOf, leftOf, topOf } from "./layout.js";
import { drawNumbers } from "./numbers.js";
import { labImage, panelsOf, sumText, sumsOf } from "./panels.js";
import { placeOf, showTip } from "./tip.js";
import { showZoom } from "./zoom.js";
import { within } from "./zoom_window.js";

// Everything: after an edit, a pinned row, new numbers.
export function draw(app) {
  if (!app.payload || !app.width) return;
  drawMaps(app);
  drawNumbers(app);
}

// The canvas alone: after the pointer or the painter's cursor has moved, and for another part of the maps.
export function drawMaps(app) {
  const began = performance.now();
  const ruler = canvasPen(null, app.theme);
  app.layout = layoutOf(app, ruler, app.width, app.room);
  app.panels = panelsOf(app);
  // Other numbers, or another sentence, may have come under a pointer that rests.
  app.hover = app.pointer ? placeOf(app, app.pointer) : null;
  const { width, height } = app.layout;
  const pen = canvasPen(sharpContext(app.parts.map, [width, height]), app.theme);
  drawLab(app, pen);
  drawMarks(app, pen);
  showZoom(app);
  showTip(app);
  app.root.dataset.attnvizMs = (performance.now() - began).toFixed(2);
}

export function drawLab(app, pen) {
  for (const box of app.layout.boxes) {
    const panel = app.panels[box.name];
    drawTitle(app, pen, box, panel);
    if (box.name === "sums") drawSums(app, pen, box);
    else drawMap(app, pen, box, panel);
    if (!pen.isFile) askTitle(app, pen, box, panel);
    if (app.layout.labelled.has(box.name)) drawRowNames(app, pen, box);
    drawBands(app, pen, box);
  }
}

// Who speaks, beside named rows and over keys.
function drawBands(app, pen, box) {
  const { labelled, zoom, cell } = app.layout;
  const { row_spans: rows, spans: keys } = app.payload.header;
  if (labelled.has(box.name)) drawBandsBeside(app, pen, rows, { x: box.x - 4, y: box.y, h: cell.h, window: zoom.rows });
  if (box.keys) drawBandsAbove(app, pen, keys, { x: box.x, y: box.y - 4, w: cell.w, window: zoom.keys });
}

// Where a title is: its left edge and its middle line.
function titleAt(app, box) {
  const stacks = box.name === "context" && app.layout.labelled.has("context");
  return [box.name === "sums" ? box.x + 4 : box.x, box.y - (stacks ? 0 : app.layout.heads) - TITLES + 8];
}

// A title is drawn, and is below an element that has its word: to be pointed at, and to be reached with Tab.
function askTitle(app, pen, box, { title }) {
  const [x, at] = titleAt(app, box);
  const width = pen.widthOf(title, 13, 600) + 4;
  Object.assign(app.parts.titles[box.name].style, { left: `${x - 2}px`, top: `${at - 9}px`, width: `${width}px` });
}

function drawTitle(app, pen, box, panel) {
  const [x, at] = titleAt(app, box);
  pen.text(panel.title, x, at, { size: 13, weight: 600 });
  const says = (panel.says ?? "") + (pen.isFile ? "" : (panel.hint ?? ""));
  pen.text(shortened(pen, says, Math.max(box.w + GAP - 6, 46), { size: 11 }), x, at + 16, {
    size: 11,
    colour: app.theme.muted,
  });
}

function drawMap(app, pen, box, panel) {
  if (!panel.data) {
    pen.box(box.x, box.y, box.w, box.h, { stroke: app.theme.line });
    pen.text(shortened(pen, "torch refused", box.w - 8, { size: 11 }), box.x + 6, box.y + Math.min(14, box.h / 2), {
      size: 11,
      colour: app.theme.muted,
    });
    return;
  }
  pen.image(labImage(app, panel, box), box.x, box.y, box.w, box.h);
  if (panel.hatched) pen.hatch(hiddenBoxes(app, box));
  pen.box(box.x - 0.5, box.y - 0.5, box.w + 1, box.h + 1, { stroke: app.theme.line });
  if (box.keys) drawColNames(app, pen, box);
}

function hiddenBoxes(app, box) {
  const { zoom, cell } = app.layout;
  const isHidden = (row, col) => !mayAttend(app, row * app.payload.k + col);
  return runsOf(isHidden, zoom.rows, zoom.keys).map(([row, from, to]) => [
    leftOf(app, box, from),
    topOf(app, box, row),
    (to - from) * cell.w,
    cell.h,
  ]);
}

// Every so many positions of a window get their name or number, so that the texts do not meet.
function everyNth([from, to], size, least) {
  const nth = Math.max(1, Math.ceil(least / size));
  return range(to - from)
    .filter((i) => i % nth === 0)
    .map((i) => from + i);
}

function drawRowNames(app, pen, box) {
  const { rows } = app.layout.zoom;
  const { h } = app.layout.cell;
  const size = Math.min(LINE, Math.max(10, h));
  const pinned = app.row !== null && within(app.row, rows) ? app.row : null;
  // The pinned row has its name before any other: those that would run into it stay out.
  const free = everyNth(rows, h, 11.5).filter((row) => pinned === null || Math.abs(row - pinned) * h >= 11.5);
  const named = new Set(pinned === null ? free : [...free, pinned]);
  for (const row of named) {
    const strong = row === app.row;
    const weight = strong ? 600 : 400;
    const { labels, band } = app.layout;
    const text = shortened(pen, app.rowNames[row], labels - band.rows - 8, { size, weight });
    pen.text(text, box.x - band.rows - 6, topOf(app, box, row + 0.5), {
      size,
      align: "right",
      weight,
      italic: isTemplate(app.payload.header.row_spans, row),
      colour: strong ? app.theme.accent : app.theme.ink,
    });
  }
}

function drawColNames(app, pen, box) {
  const { zoom, cell, heads, band } = app.layout;
  const { cols, spans } = app.payload.header;
  for (const col of everyNth(zoom.keys, cell.w, 12.5))
    pen.text(
      shortened(pen, cols[col], (heads - band.keys) / Math.sin(-SLOPE) - 10, { size: 11 }),
      leftOf(app, box, col + 0.5),
      box.y - band.keys - 7,
      { size: 11, angle: SLOPE, italic: isTemplate(spans, col) },
    );
}

function drawSums(app, pen, box) {
  const { zoom, cell } = app.layout;
  const sums = sumsOf(app);
  const isOff = (row) => Number.isNaN(sums[row]) || Math.abs(sums[row] - 1) > 5e-3;
  const told = new Set(everyNth(zoom.rows, cell.h, 11));
  for (let row = zoom.rows[0]; row < zoom.rows[1] && cell.h > 6; row++) if (isOff(row)) told.add(row);
  for (const row of sums.length ? told : []) {
    const off = isOff(row);
    pen.text(sumText(sums[row]), box.x + 4, topOf(app, box, row + 0.5), {
      size: 11,
      weight: off ? 600 : 400,
      colour: off ? app.theme.accent : app.theme.muted,
    });
  }
}

// Marks that only the screen shows: the row and column under the pointer, the pinned row, the painter's cursor, a dragged box.
function drawMarks(app, pen) {
  const {
    zoom,
    cell: { w, h },
  } = app.layout;
  for (const box of app.layout.boxes) {
    const band = (row, stroke) =>
      within(row, zoom.rows) &&
      pen.box(box.x - 1, topOf(app, box, row) - 0.5, box.w + 2, h + 1, { stroke, width: 1.5, radius: 2 });
    if (app.hover && app.hover.row !== null && app.hover.row !== app.row) band(app.hover.row, app.theme.faint);
    if (app.row !== null) band(app.row, app.theme.accent);
    if (box.keys && app.hover && app.hover.col !== null && app.hover.box.keys && within(app.hover.col, zoom.keys))
      pen.box(leftOf(app, box, app.hover.col) - 0.5, box.y, w + 1, box.h, { stroke: app.theme.faint, radius: 2 });
    const { cursor } = app;
    if (
      box.name === "masked" &&
      cursor &&
      app.focused &&
      within(cursor.row, zoom.rows) &&
      within(cursor.col, zoom.keys)
    )
      pen.box(leftOf(app, box, cursor.col), topOf(app, box, cursor.row), w, h, {
        stroke: app.theme.accent,
        width: 2.5,
      });
  }
  if (app.pull?.to) drawPull(app, pen);
}

function drawPull(app, pen) {
  const { from, to } = app.pull;
  const [x, y] = [leftOf(app, from.box, Math.min(from.col, to.col)), topOf(app, from.box, Math.min(from.row, to.row))];
  const [right, bottom] = [
    leftOf(app, from.box, Math.max(from.col, to.col) + 1),
    topOf(app, from.box, Math.max(from.row, to.row) + 1),
  ];
  pen.box(x, y, right - x, bottom - y, { stroke: app.theme.accent, width: 2 });
}
