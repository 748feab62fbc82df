// Zooming into the maps of the kind in focus: by a dragged box, by keys, by the words in the legend.

const ZOOM_STEP = 1.6,
  LEAST_WINDOW = 3; // rows or columns

function zoomOf(app, kind) {
  const whole = { top: 0, bottom: kind.nRows, left: 0, right: kind.nCols };
  if (kind.kind !== app.view.kind || !app.view.zoom) return whole;
  const [top, bottom, left, right] = app.view.zoom;
  return { top, bottom, left, right };
}

const fitsZoom = (zoom, { nRows, nCols }) =>
  zoom?.length === 4 &&
  zoom.every(Number.isInteger) &&
  [
    [zoom[0], zoom[1], nRows],
    [zoom[2], zoom[3], nCols],
  ].every(([from, to, length]) => from >= 0 && from < to && to <= length);

// A window as the view keeps it: null for the whole map.
function zoomFor(kind, { top, bottom, left, right }) {
  const isWhole = bottom - top >= kind.nRows && right - left >= kind.nCols;
  return isWhole ? null : [top, bottom, left, right];
}

function zoomBy(app, factor) {
  const kind = app.payload.kinds.get(app.view.kind);
  const zoom = zoomOf(app, kind);
  const [row, col] = zoomCentre(app, kind, zoom);
  const [top, bottom] = scaled([zoom.top, zoom.bottom], { factor, at: row, length: kind.nRows });
  const [left, right] = scaled([zoom.left, zoom.right], { factor, at: col, length: kind.nCols });
  change(app, { zoom: zoomFor(kind, { top, bottom, left, right }) });
}

// The pinned row and the key that it looks at most; else the cell under the pointer; else the middle.
function zoomCentre(app, kind, { top, bottom, left, right }) {
  const middle = [(top + bottom - 1) / 2, (left + right - 1) / 2];
  if (app.view.row !== null) return [app.view.row, topKeys(kind, focusOf(app).map, app.view.row)[0]?.[0] ?? middle[1]];
  if (app.hover?.kind === kind.kind) return [app.hover.row, app.hover.col ?? middle[1]];
  return middle;
}

function scaled([from, to], { factor, at, length }) {
  const size = to - from;
  const wanted = factor > 1 ? Math.min(size - 1, size / factor) : Math.max(size + 1, size / factor);
  const kept = Math.round(clamp(wanted, Math.min(length, LEAST_WINDOW), length));
  const start = Math.round(clamp(at + 0.5 - kept / 2, 0, length - kept));
  return [start, start + kept];
}

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

// Move the window sideways by a quarter of its width.
function panBy(app, direction) {
  const kind = app.payload.kinds.get(app.view.kind);
  const { top, bottom, left, right } = zoomOf(app, kind);
  const width = right - left;
  const start = clamp(left + direction * Math.max(1, Math.round(width / 4)), 0, kind.nCols - width);
  change(app, { zoom: zoomFor(kind, { top, bottom, left: start, right: start + width }) });
}

// The window, moved down or up as far as shows a row.
function zoomWith(app, row) {
  if (!app.view.zoom) return null;
  const [top, bottom, left, right] = app.view.zoom;
  const shift = row < top ? row - top : row >= bottom ? row + 1 - bottom : 0;
  return [top + shift, bottom + shift, left, right];
}

// Zoom to the cells under a dragged box; fewer than two either way is taken for a slip of the hand.
function zoomInto(app, tile, [x, y, w, h]) {
  const { kind, geometry } = tile;
  const { zoom, cell } = geometry;
  const left = clamp(zoom.left + Math.floor((x - geometry.x) / cell.w), zoom.left, zoom.right - 1);
  const right = clamp(zoom.left + Math.ceil((x + w - geometry.x) / cell.w), left + 1, zoom.right);
  const top = clamp(zoom.top + Math.floor((y - geometry.y) / cell.h), zoom.top, zoom.bottom - 1);
  const bottom = clamp(zoom.top + Math.ceil((y + h - geometry.y) / cell.h), top + 1, zoom.bottom);
  if (right - left < 2 || bottom - top < 2) return paint(app, performance.now());
  const other = kind.kind === app.view.kind ? {} : { ...siteIn(tile), row: null };
  change(app, { ...other, zoom: zoomFor(kind, { top, bottom, left, right }) });
}

const siteIn = ({ kind, layer, head }) => ({ kind: kind.kind, layer, head });
