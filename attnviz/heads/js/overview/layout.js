// Where each head's thumbnail goes: layers down and heads across, or the other way, whichever leaves them largest;
// sorted by a metric, they run in rows like text.

import { clamp, range } from "../../../kit/js/cells.js";

const CAPTION = 17;
const CAPTION_WIDTH = 66;
export const HEADER = 28;
const SMALLEST = 13;

export function overviewLayout(app, kind, [width, height]) {
  const { sort } = app.view;
  if (sort !== "layout" && app.payload.header.metrics.values[kind.kind]?.[sort])
    return sortedLayout(app, kind, [width, height]);
  const layers = kind.layers > 1 ? [...range(kind.layers), "mean"] : [0];
  const heads = kind.heads > 1 ? [...range(kind.heads), "mean"] : [0];
  const upright = layers.map((layer) => heads.map((head) => [layer, head]));
  const turned = heads.map((head) => layers.map((layer) => [layer, head]));
  const [a, b] = [upright, turned].map((rows) => ({ rows, ...sizeOf(app, kind, rows, [width, height]) }));
  return b.area > a.area * 1.05 ? { ...b, turned: true } : a;
}

function sortedLayout(app, kind, size) {
  const values = app.payload.header.metrics.values[kind.kind][app.view.sort];
  const order = range(values.length).sort((a, b) => (values[b] ?? -Infinity) - (values[a] ?? -Infinity) || a - b);
  const sites = order.map((i) => [Math.floor(i / kind.heads), i % kind.heads]);
  const inRows = (columns) =>
    range(Math.ceil(sites.length / columns)).map((r) => sites.slice(r * columns, (r + 1) * columns));
  const options = range(sites.length)
    .map((i) => inRows(i + 1))
    .map((rows) => ({ rows, ...sizeOf(app, kind, rows, size), sorted: true }));
  return options.reduce((best, option) => (option.area > best.area ? option : best));
}

// A thumbnail's size in CSS pixels; its cells may be up to 1.8 times as wide as high, or as high as wide.
function sizeOf(app, kind, rows, size) {
  const roomy = sizeWith(app, kind, { rows, size, narrow: false });
  return roomy.w >= CAPTION_WIDTH ? roomy : sizeWith(app, kind, { rows, size, narrow: true });
}

function sizeWith(app, kind, { rows, size: [width, height], narrow }) {
  const columns = rows[0].length;
  const gap = columns > 8 || rows.length > 9 ? 3 : 6;
  const caption = !narrow ? CAPTION : app.view.tint === "none" && app.view.sort === "layout" ? 0 : 13;
  const frame = 2; // the cell's own border, either way
  const header = narrow ? HEADER : 0;
  let w = (width - 6 - header - gap * (columns - (header ? 0 : 1))) / columns - frame;
  let h = (height - 6 - header * 0.75 - gap * (rows.length - 1)) / rows.length - caption - frame;
  const square = kind.nCols / kind.nRows; // width over height where cells are square
  const wish = Math.max(0.62, Math.min(1.6, square));
  h = Math.min(h, w / (wish * 0.72));
  w = Math.min(w, Math.max(h, SMALLEST) * Math.max(1.3, wish * 1.9));
  if (h < 17 && narrow) return dense(w, h + caption);
  [w, h] = [Math.max(SMALLEST, Math.floor(w)), Math.max(SMALLEST, Math.floor(h))];
  return { w, h, gap, caption, narrow, area: Math.min(w, h) ** 2 * Math.sqrt(Math.max(w, h) / Math.min(w, h)) };
}

// Very many heads: the metric is a strip of its tint, and its number is in the cell's title.
function dense(w, height) {
  const side = Math.max(SMALLEST, Math.floor(Math.min(height - 5, w * 1.4)));
  return {
    w: Math.max(SMALLEST, Math.floor(Math.min(w, side * 2))),
    h: side,
    gap: 3,
    caption: 5,
    narrow: true,
    dense: true,
    area: side ** 2,
  };
}

// The site one step away on the grid, or the same one at its edge.
export function neighbour(app, [down, right]) {
  const { rows } = app.layout;
  const { layer, head } = app.view;
  for (let y = 0; y < rows.length; y++) {
    const x = rows[y].findIndex(([l, h]) => l === layer && h === head);
    if (x < 0) continue;
    const row = rows[clamp(y + down, 0, rows.length - 1)];
    return row[clamp(x + right, 0, row.length - 1)];
  }
  return rows[0][0];
}
