// The growing maps: rows up to the current step, the new one lit; cells of steps to come stay empty.

import { canvasPen, sharpContext, shortened } from "../../kit/js/pens/canvas_pen.js";
import { drawBandsAbove, drawBandsBeside } from "../../kit/js/spans/bands.js";
import { isTemplate, spokenText } from "../../kit/js/spans/spans.js";
import { exactText, siteName } from "../../kit/js/text.js";
import { css, imageOf, mix, scaleOf } from "../../kit/js/theme.js";
import {
  GAP,
  SECOND,
  SLANT,
  TEXT,
  absence,
  bandOf,
  colSpace,
  isStacked,
  layoutOf,
  rowTexts,
  stackedHeight,
  stepName,
} from "./layout.js";
import { mapOf } from "./payload.js";

// Where a map comes from. The same rows are side by side: all those of one pass, and those of the steps so far.
const BY = { pass: "one pass", steps: "steps", encoder: "computed once" };

export function paintMaps(app) {
  const { parts, theme } = app;
  const [width, room] = app.sizes.map;
  const ruler = canvasPen(parts.map.getContext("2d"), theme);
  app.boxes = layoutOf(app, ruler, [width, room]);
  const height = isStacked(app) ? stackedHeight(app.boxes) : room;
  parts.map.parentElement.style.minHeight = isStacked(app) ? `${height}px` : "";
  const context = sharpContext(parts.map, [width, height]);
  drawMaps(app, canvasPen(context, theme));
  parts.map.setAttribute("aria-label", mapsText(app));
}

export function drawMaps(app, pen) {
  for (const box of app.boxes) {
    drawTitle(app, pen, box);
    drawCells(app, pen, box);
    drawRowLabels(app, pen, box);
    drawColLabels(app, pen, box);
    drawBands(app, pen, box);
    drawNewRow(app, pen, box);
  }
}

// Who speaks, as far as it is written.
function drawBands(app, pen, { kind, labels, x, y, w, h }) {
  const rows = kind.grows ? app.view.step + 1 : kind.nRows;
  const cols = kind.grows_keys ? app.view.step + 1 : kind.nCols;
  if (labels) drawBandsBeside(app, pen, kind.row_spans, { x: x - 4, y, h, window: [0, rows] });
  drawBandsAbove(app, pen, kind.spans, { x, y: y - 4, w, window: [0, cols] });
}

// The kind's name, once for the two maps of a pair; below it where each comes from.
function drawTitle(app, pen, box) {
  const { kind, x, y, w } = box;
  const { ink, muted } = app.theme;
  const at = app.boxes.indexOf(box);
  const beside = (other) => (other?.y === y ? other : null);
  const next = beside(app.boxes[at + 1]);
  const bottom = y - (isStacked(app) ? colSpace(pen, kind) : colSpaceOf(app, pen)) - 8;
  const room = (next ? w * kind.nCols + GAP : app.sizes.map[0] - x) - 4;
  if (beside(app.boxes[at - 1])?.kind.kind !== kind.kind) {
    const wide = next?.kind.kind === kind.kind ? next.x + next.w * kind.nCols + GAP - 4 - x : room;
    const short = kind.title.replace("-attention", "").replace(" attention", "");
    const title =
      [kind.title, short].find((text) => pen.widthOf(text, TEXT, 600) <= wide) ??
      shortened(pen, short, wide, { size: TEXT, weight: 600 });
    pen.text(title, x, bottom - SECOND, { size: TEXT, weight: 600, colour: ink });
  }
  // Over the names of its rows there is room too, where the map itself is narrow.
  const from = Math.max(box.left, Math.min(x, x + room - pen.widthOf(BY[kind.by], TEXT)));
  pen.text(shortened(pen, BY[kind.by], room + x - from, { size: TEXT }), from, bottom, { size: TEXT, colour: muted });
}

const colSpaceOf = (app, pen) => Math.max(...app.payload.kinds.map((kind) => colSpace(pen, kind)));

function drawCells(app, pen, { kind, x, y, w, h }) {
  const rows = kind.grows ? app.view.step + 1 : kind.nRows;
  const cols = kind.grows_keys ? rows : kind.nCols;
  pen.box(x, y, w * kind.nCols, h * kind.nRows, { fill: css(mix(app.theme.inkRGB, app.theme.paperRGB, 0.025)) });
  const map = mapOf(kind, app.view.layer, app.view.head);
  if (map)
    pen.image(
      imageOf(cutOf(map, kind.nCols, [rows, cols]), [rows, cols], scaleOf(app, "sequential"), [0, 1]),
      x,
      y,
      w * cols,
      h * rows,
    );
  else
    absence(app.view, kind).forEach((line, i) =>
      pen.text(line, x + 5, y + 12 + 14 * i, { size: TEXT, colour: app.theme.muted }),
    );
  pen.box(x, y, w * cols, h * rows, { stroke: app.theme.line });
}

function cutOf(map, nCols, [rows, cols]) {
  if (cols === nCols) return map.subarray(0, rows * cols);
  const cut = new Float32Array(rows * cols);
  for (let row = 0; row < rows; row++) cut.set(map.subarray(row * nCols, row * nCols + cols), row * cols);
  return cut;
}

function drawRowLabels(app, pen, box) {
  const { kind, labels, x, y, h } = box;
  if (!labels) return;
  const texts = rowTexts(app, kind);
  const every = Math.max(1, Math.ceil(12 / h));
  const { step } = app.view;
  texts.forEach((text, row) => {
    const isNew = kind.follows && row === step;
    if (kind.grows && row > step) return;
    if (!isNew && (row % every || (every > 1 && kind.follows && Math.abs(row - step) < every))) return;
    const style = {
      size: TEXT,
      weight: isNew ? 700 : 400,
      colour: isNew ? app.theme.ink : app.theme.muted,
      align: "right",
      italic: isTemplate(kind.row_spans, row),
    };
    const { rows: band } = bandOf(kind);
    pen.text(shortened(pen, text, labels - band - 8, style), x - band - 6, y + (row + 0.5) * h, style);
  });
}

function drawColLabels(app, pen, { kind, x, y, w }) {
  const every = Math.max(1, Math.ceil(12 / w));
  const { step } = app.view;
  kind.cols.forEach((text, col) => {
    if (kind.grows_keys && col > step) return;
    const isNew = kind.grows_keys && col === step;
    if (!isNew && (col % every || (every > 1 && kind.grows_keys && step - col < every))) return;
    const style = {
      size: TEXT,
      colour: isNew ? app.theme.ink : app.theme.muted,
      weight: isNew ? 700 : 400,
      angle: SLANT,
      italic: isTemplate(kind.spans, col),
    };
    pen.text(shortened(pen, text, 72, style), x + (col + 0.5) * w, y - bandOf(kind).cols - 6, style);
  });
}

function drawNewRow(app, pen, { kind, x, y, w, h }) {
  if (!kind.follows) return;
  const cols = kind.grows_keys ? app.view.step + 1 : kind.nCols;
  pen.box(x - 1.5, y + app.view.step * h - 1, w * cols + 3, h + 2, { stroke: app.theme.accent, width: 2, radius: 3 });
}

export function mapsText(app) {
  const { step, layer, head } = app.view;
  const now = app.payload.header.steps[step];
  const parts = app.payload.kinds
    .filter((kind) => kind.grows)
    .map((kind) => {
      const map = mapOf(kind, layer, head);
      if (!map) return `${kind.title}: ${absence(app.view, kind).join(" ")}`;
      const row = map.subarray(step * kind.nCols, (step + 1) * kind.nCols);
      const best = row.indexOf(Math.max(...row));
      return `${kind.title} looks most at ${spokenText(kind.cols[best], kind.spans, best)} (${exactText(row[best])})`;
    });
  const { row_spans: ofRows } = app.payload.kinds.find(({ follows }) => follows) ?? {};
  return `Step ${step}: ${spokenText(stepName(now), ofRows, step)}. ${siteName(layer, head)}: ${parts.join("; ")}.`;
}
