// The layer over the maps: their names, the pinned row's outline, the cell under the pointer, a zoom being drawn.

import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { css } from "../../../kit/js/theme.js";
import { colLeft, rowTop } from "./geometry.js";
import { drawAnswer } from "./answer.js";
import { drawLabels } from "./labels.js";
import { sharesRows } from "./tiles.js";

export function paintOverlay(app) {
  const [width, height] = app.sizes.map;
  const pen = canvasPen(sharpContext(app.parts.overlay, [width, height]), app.theme);
  for (const tile of app.tiles) {
    drawLabels(app, pen, tile);
    markPinnedRow(app, pen, tile);
    drawAnswer(app, pen, tile);
    if (app.hover && app.hover.kind === tile.kind.kind) outlineCell(app, pen, tile);
  }
  if (app.dragged) pen.box(...app.dragged, { stroke: app.theme.accent, fill: css(app.theme.accentRGB, 0.12) });
}

export function markPinnedRow(app, pen, tile) {
  const { row } = app.view;
  const { zoom } = tile.geometry;
  if (row === null || !sharesRows(app, tile.kind.kind) || row < zoom.top || row >= zoom.bottom) return;
  outlineRow(app, pen, tile.geometry, row);
}

function outlineRow(app, pen, geometry, row) {
  const { x, w, cell } = geometry;
  const thin = cell.h < 6 ? 2 : 0;
  pen.box(x - 2, rowTop(geometry, row) - 1 - thin, w + 4, cell.h + 2 + 2 * thin, {
    stroke: app.theme.accent,
    width: 2,
    radius: 4,
  });
}

function outlineCell(app, pen, tile) {
  const { geometry } = tile;
  const { row, col } = app.hover;
  const { zoom, cell } = geometry;
  if (row === null) return pen.box(colLeft(geometry, col), geometry.y - 3, cell.w, 2, { fill: app.theme.accent });
  if (row < zoom.top || row >= zoom.bottom) return;
  if (col !== null && col >= zoom.left && col < zoom.right) {
    const wide = Math.max(cell.w, 5);
    const high = Math.max(cell.h, 5);
    const x = colLeft(geometry, col) + (cell.w - wide) / 2;
    const y = rowTop(geometry, row) + (cell.h - high) / 2;
    pen.box(x, y, wide, high, { stroke: app.theme.ink, width: 1.5, radius: 2 });
    pen.box(x, geometry.y - 3, wide, 2, { fill: app.theme.accent });
  }
  pen.box(geometry.x - 5, rowTop(geometry, row), 2, cell.h, { fill: app.theme.accent });
}
