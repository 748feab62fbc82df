// The window of rows and keys that a zoomed map shows.

export const SMALL_CELL = 8; // pixels: below, one cell is hard to hit

// The window as [first, after the last] of rows and of keys; all of them where none was chosen.
export function zoomOf({ zoom, payload: { q, k } }) {
  const [top, bottom, left, right] = zoom ?? [0, q, 0, k];
  return { rows: [top, bottom], keys: [left, right] };
}

export const fitsMap = (zoom, q, k) => Boolean(zoom) && zoom[1] <= q && zoom[3] <= k;

export const sizeOf = ([from, to]) => to - from;

export const within = (at, [from, to]) => at >= from && at < to;

export const wholeMap = ({ payload: { q, k } }) => ({ rows: [0, q], keys: [0, k] });

export function zoomText(app) {
  if (!app.zoom) return "";
  const { rows, keys } = zoomOf(app);
  const { q, k } = app.payload;
  const part = ([from, to], length) => `${from} to ${to - 1} of ${length}`;
  return ` · drawn: rows ${part(rows, q)}, keys ${part(keys, k)}`;
}

export function zoomHint({ zoom, layout: { cell } }) {
  return !zoom && Math.min(cell.w, cell.h) < SMALL_CELL ? " · drag a box on scores or weights to zoom" : "";
}
