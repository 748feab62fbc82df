// The window of rows and keys that a zoomed map shows.

export function zoomOf(app, kind) {
  const whole = { top: 0, bottom: kind.nRows, left: 0, right: kind.nCols };
  if (kind.kind !== app.view.kind || !app.view.zoom) return whole;
  const [top, bottom, left, right] = app.view.zoom;
  return { top, bottom, left, right };
}

export const fitsZoom = (zoom, { nRows, nCols }) =>
  zoom?.length === 4 &&
  zoom.every(Number.isInteger) &&
  [
    [zoom[0], zoom[1], nRows],
    [zoom[2], zoom[3], nCols],
  ].every(([from, to, length]) => from >= 0 && from < to && to <= length);

// A window as the view keeps it: null for the whole map.
export function zoomFor(kind, { top, bottom, left, right }) {
  const isWhole = bottom - top >= kind.nRows && right - left >= kind.nCols;
  return isWhole ? null : [top, bottom, left, right];
}

// The window, moved down or up as far as shows a row.
export function zoomWith(app, row) {
  if (!app.view.zoom) return null;
  const [top, bottom, left, right] = app.view.zoom;
  const shift = row < top ? row - top : row >= bottom ? row + 1 - bottom : 0;
  return [top + shift, bottom + shift, left, right];
}
