// What lies over the maps: the pinned row's outline, the cell under the pointer, its labels, a zoom being drawn.

function paintOverlay(app) {
  const [width, height] = app.sizes.map;
  const pen = canvasPen(sharpContext(app.parts.overlay, [width, height]), app.theme);
  for (const tile of app.tiles) {
    markPinnedRow(app, pen, tile);
    if (app.hover && app.hover.kind === tile.kind.kind) outlineCell(app, pen, tile);
  }
  if (app.dragged) pen.box(...app.dragged, { stroke: app.theme.accent, fill: css(app.theme.accentRGB, 0.12) });
}

// The pinned row's label stands on paper of its own: below it the map has the same one in plain letters, or, of a long
// text, those of its neighbours.
function markPinnedRow(app, pen, tile) {
  const { row } = app.view;
  const { zoom, x, labelWidth } = tile.geometry;
  if (row === null || !sharesRows(app, tile.kind.kind) || row < zoom.top || row >= zoom.bottom) return;
  const [top, bottom] = labelsUnder(tile.geometry, row);
  pen.box(x - 10 - labelWidth, top, labelWidth + 5, bottom - top, { fill: app.theme.paper });
  drawRowLabel(app, pen, tile, { row, strong: true });
  outlineRow(app, pen, tile.geometry, row);
}

// From where to where a row's label covers others, which are then taken away whole: half a label reads as another word.
function labelsUnder(geometry, row) {
  const { zoom, cell } = geometry;
  if (cell.h >= LABEL_LINE) return [rowTop(geometry, row), rowTop(geometry, row) + cell.h];
  const step = stepFor(cell.h, LABEL_LINE);
  const above = row - ((row - zoom.top) % step);
  const covered = [above, above + step].filter((other) => Math.abs(other - row) * cell.h < LABEL_LINE);
  const middles = [row, ...covered].map((other) => rowTop(geometry, other) + cell.h / 2);
  return [Math.min(...middles) - LABEL / 2, Math.max(...middles) + LABEL / 2];
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
  const { geometry } = tile,
    { row, col } = app.hover;
  const { zoom, cell } = geometry;
  if (row < zoom.top || row >= zoom.bottom) return;
  if (col !== null && col >= zoom.left && col < zoom.right) {
    const wide = Math.max(cell.w, 5),
      high = Math.max(cell.h, 5);
    const x = colLeft(geometry, col) + (cell.w - wide) / 2,
      y = rowTop(geometry, row) + (cell.h - high) / 2;
    pen.box(x, y, wide, high, { stroke: app.theme.ink, width: 1.5, radius: 2 });
    pen.box(x, geometry.y - 3, wide, 2, { fill: app.theme.accent });
  }
  pen.box(geometry.x - 5, rowTop(geometry, row), 2, cell.h, { fill: app.theme.accent });
}
