// Who speaks, along a map's rows and columns, between its cells and their names.

import { BAND, drawBandsAbove, drawBandsBeside } from "../../../kit/js/spans/bands.js";

const APART = { rows: 6, cols: 5 }; // pixels to the cells: what marks the pointer's row and column lies there

// The pixels that bands need between cells and names.
export const bandRoom = ({ kind, place }) => ({
  rows: kind.row_spans && !place?.isNamedBefore ? BAND + 1 : 0,
  cols: kind.spans ? BAND + 3 : 0,
});

export function drawBands(app, pen, tile) {
  const { x, y, cell, zoom, band } = tile.geometry;
  const { row_spans: rows, spans: cols } = tile.kind;
  if (band.rows) drawBandsBeside(app, pen, rows, { x: x - APART.rows, y, h: cell.h, window: [zoom.top, zoom.bottom] });
  if (band.cols) drawBandsAbove(app, pen, cols, { x, y: y - APART.cols, w: cell.w, window: [zoom.left, zoom.right] });
}
