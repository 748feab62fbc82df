// Zooming into the maps of the kind in focus: by a dragged box, by keys, by the words in the legend.

import { clamp } from "../../../kit/js/cells.js";
import { pinched } from "../../../kit/js/touch/pinch.js";
import { scaled, startingAt } from "../../../kit/js/zoom.js";
import { choose } from "../choice.js";
import { topKeys } from "../subject.js";
import { focusOf } from "./tiles.js";
import { zoomFor, zoomOf } from "./zoom_window.js";

export function zoomBy(app, factor) {
  const kind = app.payload.kinds.get(app.view.kind);
  const zoom = zoomOf(app, kind);
  const [row, col] = zoomCentre(app, kind, zoom);
  const [top, bottom] = scaled([zoom.top, zoom.bottom], { factor, at: row, length: kind.nRows });
  const [left, right] = scaled([zoom.left, zoom.right], { factor, at: col, length: kind.nCols });
  choose(app, { zoom: zoomFor(kind, { top, bottom, left, right }) });
}

// The pinned row and the key that it looks at most; else the cell under the pointer; else the middle.
function zoomCentre(app, kind, { top, bottom, left, right }) {
  const middle = [(top + bottom - 1) / 2, (left + right - 1) / 2];
  if (app.view.row !== null) return [app.view.row, topKeys(kind, focusOf(app).map, app.view.row)[0]?.[0] ?? middle[1]];
  if (app.hover?.kind === kind.kind) return [app.hover.row, app.hover.col ?? middle[1]];
  return middle;
}

// Move the window sideways by a quarter of its width.
export function panBy(app, direction) {
  const kind = app.payload.kinds.get(app.view.kind);
  const { top, bottom, left, right } = zoomOf(app, kind);
  const width = right - left;
  const step = direction * Math.max(1, Math.round(width / 4));
  const [first, end] = startingAt(left + step, width, kind.nCols);
  choose(app, { zoom: zoomFor(kind, { top, bottom, left: first, right: end }) });
}

// Zoom to the cells under a dragged box; fewer than two either way is taken for a slip of the hand.
export function zoomInto(app, tile, [x, y, w, h]) {
  const { kind, geometry } = tile;
  const { zoom, cell } = geometry;
  const left = clamp(zoom.left + Math.floor((x - geometry.x) / cell.w), zoom.left, zoom.right - 1);
  const right = clamp(zoom.left + Math.ceil((x + w - geometry.x) / cell.w), left + 1, zoom.right);
  const top = clamp(zoom.top + Math.floor((y - geometry.y) / cell.h), zoom.top, zoom.bottom - 1);
  const bottom = clamp(zoom.top + Math.ceil((y + h - geometry.y) / cell.h), top + 1, zoom.bottom);
  if (right - left < 2 || bottom - top < 2) return app.widget.paint(app, performance.now());
  const other = kind.kind === app.view.kind ? {} : { ...siteIn(tile), row: null };
  choose(app, { ...other, zoom: zoomFor(kind, { top, bottom, left, right }) });
}

// Two fingers took hold of `tile`, as it was drawn then.
export function pinchZoom(app, tile, { from, to, factor }) {
  const { kind, geometry } = tile;
  const { x, y, w, h, zoom } = geometry;
  const across = { from: (from[0] - x) / w, to: (to[0] - x) / w, factor, length: kind.nCols };
  const down = { from: (from[1] - y) / h, to: (to[1] - y) / h, factor, length: kind.nRows };
  const [left, right] = pinched([zoom.left, zoom.right], across);
  const [top, bottom] = pinched([zoom.top, zoom.bottom], down);
  const wanted = zoomFor(kind, { top, bottom, left, right });
  if (JSON.stringify(wanted) === JSON.stringify(app.view.zoom)) return;
  const other = kind.kind === app.view.kind ? {} : { ...siteIn(tile), row: null };
  choose(app, { ...other, zoom: wanted });
}

export const siteIn = ({ kind, layer, head }) => ({ kind: kind.kind, layer, head });
