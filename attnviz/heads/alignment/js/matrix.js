// Target words down, source words across, and no word last: the scores themselves, the links and those by hand.

import { measured, shortened } from "../../../kit/js/pens/canvas_pen.js";
import { imageOf, scaleOf } from "../../../kit/js/theme.js";
import { linksOf, scoresOf } from "./choice.js";
import { goldColour } from "./gold.js";

const [LARGEST, SMALLEST] = [38, 9];
const MOST_NAME = 120;
const LETTER = 13;

export function layoutMatrix(app, [width, height]) {
  const { header } = app.payload;
  const cols = [...header.src, `∅ ${header.null_text}`];
  const left = nameRoom(app, header.tgt);
  const top = nameRoom(app, cols);
  const fitting = Math.min((width - left - 12) / cols.length, (height - top - 8) / header.tgt.length);
  const cell = Math.floor(Math.max(SMALLEST, Math.min(LARGEST, fitting)));
  return { cols, left, top, cell, width: left + cell * cols.length + 12, height: top + cell * header.tgt.length + 8 };
}

const nameRoom = ({ theme }, texts) =>
  Math.min(MOST_NAME, Math.max(...texts.map((text) => measured(text, LETTER, 400, theme.font)))) + 14;

// Shares are coloured from 0 to 1; what has another unit from the lowest to the highest, with 0 in the middle where
// numbers stand below.
export function rangeOf(app) {
  const { header } = app.payload;
  if (header.is_share) return { name: "sequential", low: 0, high: 1 };
  let [low, high] = [0, 0];
  for (let tgt = 0; tgt < header.tgt.length; tgt++)
    for (const score of scoresOf(app, tgt)) [low, high] = [Math.min(low, score), Math.max(high, score)];
  const most = Math.max(-low, high) || 1;
  return low < -0.001 * most
    ? { name: "diverging", low: -most, high: most }
    : { name: "sequential", low: 0, high: most };
}

export function paintMatrix(app, pen, { cols, left, top, cell }) {
  const { header } = app.payload;
  const { name, low, high } = rangeOf(app);
  const rows = header.tgt.length;
  const values = Float32Array.from(header.tgt.flatMap((_, tgt) => [...scoresOf(app, tgt)]));
  const image = imageOf(values, [rows, cols.length], scaleOf(app, name), [low, high]);
  pen.image(image, left, top, cell * cols.length, cell * rows);
  pen.box(left, top, cell * cols.length, cell * rows, { stroke: app.theme.line });
  const every = Math.max(1, Math.ceil(12 / cell));
  const look = { size: Math.min(LETTER, Math.max(8, cell - 2)) };
  header.tgt.forEach((text, at) => {
    if (at % every) return;
    pen.text(shortened(pen, text, MOST_NAME, look), left - 6, top + (at + 0.5) * cell, { ...look, align: "right" });
  });
  cols.forEach((text, at) => {
    if (at % every) return;
    const colour = at === cols.length - 1 ? app.theme.muted : app.theme.ink;
    pen.text(shortened(pen, text, MOST_NAME, look), left + (at + 0.5) * cell, top - 6, {
      ...look,
      angle: -Math.PI / 2,
      colour,
    });
  });
  paintMarks(app, pen, { left, top, cell });
}

function paintMarks(app, pen, { left, top, cell }) {
  const at = ([src, tgt], inset) => [
    left + src * cell + inset,
    top + tgt * cell + inset,
    cell - 2 * inset,
    cell - 2 * inset,
  ];
  for (const link of linksOf(app))
    pen.box(...at(link, cell * 0.36), { fill: app.theme.paper, stroke: app.theme.ink, radius: cell });
  const { gold } = app.payload.header;
  if (!app.view.gold || !gold) return;
  const stroke = goldColour(app);
  for (const link of gold.sure) pen.box(...at(link, 1.5), { stroke, width: 2.4 });
  for (const link of gold.possible) pen.path(corners(at(link, 1.5)), { stroke, width: 1.8, dash: [3, 3] });
}

const corners = ([x, y, w, h]) => [
  [x, y],
  [x + w, y],
  [x + w, y + h],
  [x, y + h],
  [x, y],
];

// The cell under a point of the picture, [target word, source word], or null.
export function cellAt(app, { cols, left, top, cell }, [x, y]) {
  const [src, tgt] = [Math.floor((x - left) / cell), Math.floor((y - top) / cell)];
  const isThere = src >= 0 && src < cols.length && tgt >= 0 && tgt < app.payload.header.tgt.length;
  return isThere ? [tgt, src] : null;
}
