// One map with its axis titles and hatching; `labels.js` names its rows and columns. The same strokes go to the screen, to PNG and to SVG.

import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { pooledByMax, runsOf } from "../../../kit/js/cells.js";
import { sharpness } from "../../../kit/js/resize.js";
import { imageOf, scaleOf } from "../../../kit/js/theme.js";
import { blindness } from "../subject.js";
import { drawCover } from "./answer.js";
import { drawBands } from "./bands.js";
import { GAPS, colLeft, geometryOf, hasKeyAxis, rowTop } from "./geometry.js";
import { isInFocus } from "./tiles.js";

export function drawTile(app, pen, tile, box) {
  const geometry = geometryOf(pen, tile, box);
  tile.geometry = geometry;
  if (tile.heading) drawHeading(app, pen, tile);
  drawCells(app, pen, tile);
  if (app.view.mask && tile.mask) pen.hatch(maskedBoxes(tile));
  drawBlindRows(app, pen, tile);
  drawCover(app, pen, tile);
  drawBands(app, pen, tile);
  drawAxes(app, pen, tile);
  return geometry;
}

function drawHeading(app, pen, tile) {
  const { geometry, heading } = tile;
  const style = { weight: 600, colour: isInFocus(app, tile) ? app.theme.accent : app.theme.ink };
  const { box } = geometry;
  const x = tile.place.isNamedBefore ? geometry.x : box.x + tile.place.axis;
  pen.text(shortened(pen, heading, box.x + box.w - x, style), x, box.y + 9, style);
}

function windowOf({ map, kind, zoom }) {
  if (zoom.bottom - zoom.top === kind.nRows && zoom.right - zoom.left === kind.nCols) return map.data;
  const cols = zoom.right - zoom.left;
  const data = new Float32Array((zoom.bottom - zoom.top) * cols);
  for (let row = zoom.top; row < zoom.bottom; row++)
    data.set(map.data.subarray(row * kind.nCols + zoom.left, row * kind.nCols + zoom.right), (row - zoom.top) * cols);
  return data;
}

function drawCells(app, pen, tile) {
  const { x, y, w, h, cell, nRows, nCols } = tile.geometry;
  const scale = scaleOf(app, tile.signed ? "diverging" : "sequential");
  const pixels = [h, w].map((side) => Math.max(1, Math.floor(side * sharpness())));
  const { data, rows, cols } = pooledByMax(windowOf(tile), [nRows, nCols], pixels);
  pen.image(imageOf(data, [rows, cols], scale, [tile.range.low, tile.range.high]), x, y, w, h);
  if (Math.min(cell.w, cell.h) >= GAPS) drawGaps(app, pen, tile.geometry);
  pen.box(x - 0.5, y - 0.5, w + 1, h + 1, { stroke: app.theme.line });
}

function drawGaps(app, pen, { x, y, w, h, cell, nRows, nCols }) {
  const fill = app.theme.paper;
  for (let row = 1; row < nRows; row++) pen.box(x, y + row * cell.h - 0.5, w, 1, { fill });
  for (let col = 1; col < nCols; col++) pen.box(x + col * cell.w - 0.5, y, 1, h, { fill });
}

function maskedBoxes({ mask, kind, geometry }) {
  const { zoom, cell } = geometry;
  const isMasked = (row, col) => !mask[row * kind.nCols + col];
  const runs = runsOf(isMasked, [zoom.top, zoom.bottom], [zoom.left, zoom.right]);
  return runs.map(([row, from, to]) => [colLeft(geometry, from), rowTop(geometry, row), (to - from) * cell.w, cell.h]);
}

function drawBlindRows(app, pen, tile) {
  const { zoom, cell } = tile.geometry;
  for (let row = zoom.top; row < zoom.bottom && cell.h >= 10; row++) drawBlindness(app, pen, tile, row);
}

function drawBlindness(app, pen, tile, row) {
  const { geometry } = tile;
  const style = { size: 11, colour: app.theme.muted };
  const said = blindness(tile, row);
  if (said !== "covered") pen.text(said, geometry.x + 6, rowTop(geometry, row) + geometry.cell.h / 2, style);
}

function drawAxes(app, pen, tile) {
  const { x, y, w, h, box, labelWidth, band } = tile.geometry;
  const colour = app.theme.muted;
  const query = pen.widthOf(tile.kind.query_axis, 11) <= h + 24 ? tile.kind.query_axis : "query ↓";
  if (tile.place?.axis !== 0)
    pen.text(query, x - labelWidth - band.rows - 18, y + h / 2, {
      size: 11,
      colour,
      align: "center",
      angle: -Math.PI / 2,
    });
  const half = pen.widthOf(tile.kind.key_axis, 11) / 2;
  const key = x + w / 2 + half <= box.x + box.w ? tile.kind.key_axis : "key →";
  if (hasKeyAxis(tile))
    pen.text(key, x + w / 2, Math.min(y + h + 14, box.y + box.h - 6), {
      size: 11,
      colour,
      align: "center",
    });
}
