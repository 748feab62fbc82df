// What lies over the maps: the pinned row's outline, the cell under the pointer, its labels, a zoom being drawn.

const activeRow = (app) => app.view.row ?? (app.hover?.inFocus ? app.hover.row : null);

function paintOverlay(app) {
  const [width, height] = app.sizes.map;
  const pen = canvasPen(sharpContext(app.parts.overlay, [width, height]), app.theme);
  for (const tile of app.tiles) {
    const { kind, geometry } = tile;
    if (app.view.row !== null && kind.kind === app.view.kind) outlineRow(app, pen, { geometry, row: app.view.row });
    if (app.hover && app.hover.kind === kind.kind) outlineCell(app, pen, tile);
  }
  if (app.dragged) pen.box(...app.dragged, { stroke: app.theme.accent, fill: css(app.theme.accentRGB, 0.12) });
}

function outlineRow(app, pen, { geometry, row }) {
  const { zoom, x, w, cell } = geometry;
  if (row < zoom.top || row >= zoom.bottom) return;
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

// Words about the active row, for the live region and the picture's label.
function activeText(app) {
  const row = app.view.row;
  if (row === null) return "No row pinned.";
  const { kind, map, mask } = focusOf(app);
  const top = topKeys(kind, map, row)
    .slice(0, 3)
    .map(([col, weight]) => `${kind.cols[col]} ${weight.toFixed(3)}`);
  const blind = mask && !mask.subarray(row * kind.nCols, (row + 1) * kind.nCols).includes(1);
  return `Row ${rowName(kind.rows[row])} ${blind ? "has no keys" : `looks at ${top.join(", ")}`}.`;
}

function topKeys(kind, map, row) {
  const weights = map.data.subarray(row * kind.nCols, (row + 1) * kind.nCols);
  return [...weights.entries()].sort(([i, a], [j, b]) => Math.abs(b) - Math.abs(a) || i - j);
}

function announce(app) {
  const { kind, layer, head } = focusOf(app);
  const text = `${titleOf(app)[0]}. ${activeText(app)}`;
  if (text === app.announced) return;
  app.announced = text;
  // Waiting a moment keeps a screen reader from reading every head that a held arrow key passes.
  clearTimeout(app.announceTimer);
  app.announceTimer = setTimeout(() => {
    app.parts.live.textContent = text;
  }, 150);
}
