// A lesson's question on the map: its cover, the cells that are marked as an answer, and afterwards the right ones,
// which the marks are seen to move to.

import { css } from "../../../kit/js/theme.js";
import { change } from "../../../kit/js/store.js";
import { isTileCovered } from "../covers.js";
import { colLeft, rowTop } from "./geometry.js";
import { isInFocus } from "./tiles.js";

const MOVING = 900; // milliseconds

// The rows of a map that are covered, as boxes with a question mark.
export function drawCover(app, pen, tile, alpha = 1) {
  const { x, w, cell, zoom } = tile.geometry;
  for (let row = zoom.top; row < zoom.bottom; row++) {
    if (!isTileCovered(tile, row)) continue;
    pen.box(x, rowTop(tile.geometry, row), w, cell.h, { fill: css(app.theme.paperRGB, alpha), stroke: app.theme.line });
    if (cell.h >= 9 && alpha === 1)
      pen.text("?", x + w / 2, rowTop(tile.geometry, row) + cell.h / 2, { colour: app.theme.muted, align: "center" });
  }
}

export const asksCells = (app, tile) => Boolean(app.payload.header.lesson?.most) && isInFocus(app, tile);

// A click on a cell marks it, or takes its mark back; the oldest mark goes where there would be too many.
export function toggleMark(app, { row, col }) {
  const { most, row: asked } = app.payload.header.lesson;
  if (asked !== null && row !== asked) return;
  const others = app.view.marks.filter(([r, c]) => r !== row || c !== col);
  const isNew = others.length === app.view.marks.length;
  change(app, { marks: isNew ? [...others, [row, col]].slice(-most) : others });
}

// Called when data arrive: an answer that has just been given is seen to move.
export function noticeAnswer(app, before, repaint) {
  const now = app.payload.header.lesson;
  if (!now?.right) app.toldAt = null;
  else if (before && !before.right && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    app.toldAt = performance.now();
    const frame = () => {
      repaint(app);
      if (movedBy(app) < 1) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}

const movedBy = ({ toldAt }) => (toldAt ? Math.min(1, (performance.now() - toldAt) / MOVING) : 1);

export function drawAnswer(app, pen, tile) {
  const { lesson } = app.payload.header;
  if (!lesson || !isInFocus(app, tile)) return;
  if (lesson.right) return drawTold(app, pen, tile, lesson);
  if (lesson.row !== null) outline(app, pen, tile, [lesson.row, null], { width: lesson.spot ? 4 : 2 });
  else if (lesson.spot) outline(app, pen, tile, [null, null], { width: 4 });
  for (const cell of lesson.guess ?? app.view.marks)
    outline(app, pen, tile, cell, { width: 3, fill: css(app.theme.accentRGB, 0.35) });
}

function drawTold(app, pen, tile, { guess, right }) {
  const part = movedBy(app);
  if (part < 1) veil(app, pen, tile, 1 - part);
  for (const cell of guess) outline(app, pen, tile, cell, { width: 2, stroke: app.theme.muted });
  right.forEach((cell, i) => {
    const from = guess[i] ?? cell;
    outline(
      app,
      pen,
      tile,
      [0, 1].map((axis) => from[axis] + (cell[axis] - from[axis]) * part),
      { width: 4 },
    );
  });
}

// The cover goes bit by bit.
function veil(app, pen, { geometry }, alpha) {
  const { x, y, w, h } = geometry;
  pen.box(x, y, w, h, { fill: css(app.theme.paperRGB, alpha) });
}

// Round a cell, a row (no column) or the whole map (neither); what is out of the zoom is not drawn.
function outline(app, pen, { geometry }, [row, col], { width, stroke = app.theme.accent, fill = null }) {
  const { x, y, w, h, cell, zoom } = geometry;
  if (row !== null && (row < zoom.top || row >= zoom.bottom)) return;
  if (col !== null && (col < zoom.left || col >= zoom.right)) return;
  const [left, wide] = col === null ? [x, w] : [colLeft(geometry, col), cell.w];
  const [top, high] = row === null ? [y, h] : [rowTop(geometry, row), cell.h];
  pen.box(left, top, wide, high, { stroke, fill, width, radius: 3 });
}
