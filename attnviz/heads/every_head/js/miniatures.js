// All miniatures on one canvas: 144 canvases would cost more than what is drawn on them.

import { pooledByMax, range } from "../../../kit/js/cells.js";
import { THIN, drawBandsAbove, drawBandsBeside } from "../../../kit/js/spans/bands.js";
import { sharpness } from "../../../kit/js/resize.js";
import { imageOf, scaleOf } from "../../../kit/js/theme.js";

const SHADES = 8;
export const FAINTEST = 6;
export const LINES_A_ROW = 4;

export function paintMiniatures(app, pen, context) {
  const { layout } = app;
  const draw = app.view.mini === "map" ? drawMap : drawLines;
  const extra = [];
  for (let layer = 0; layer < layout.layers; layer++)
    for (let head = 0; head < layout.heads; head++) {
      const box = layout.box(layer, head);
      extra.push(draw(app, { pen, context, box }, mapBytes(app, layer, head)));
      pen.box(box.x - 0.5, box.y - 0.5, box.w + 1, box.h + 1, { stroke: app.theme.line });
      drawBands(app, pen, box);
    }
  const label = { size: 10.5, colour: app.theme.muted };
  range(layout.layers).forEach((layer) =>
    pen.text(`L${layer}`, layout.left - 6, layout.box(layer, 0).y + layout.h / 2, { ...label, align: "right" }),
  );
  range(layout.heads).forEach((head) =>
    pen.text(`H${head}`, layout.box(0, head).x + layout.w / 2, 9, { ...label, align: "center" }),
  );
  return extra.join("");
}

// Between the heads: of a map on the left and above, of lines on both sides, where these begin and end.
function drawBands(app, pen, { x, y, w, h }) {
  const { row_spans: rows, spans: cols, size } = app.payload.header;
  const beside = (spans, right, count) =>
    drawBandsBeside(app, pen, spans, { x: right, y, h: h / count, window: [0, count], across: THIN });
  beside(rows, x - 1, size[0]);
  if (app.view.mini === "lines") beside(cols, x + w + 1 + THIN, size[1]);
  else drawBandsAbove(app, pen, cols, { x, y: y - 1, w: w / size[1], window: [0, size[1]], across: THIN });
}

export function mapBytes(app, layer, head) {
  const { header, array } = app.payload;
  const [, heads, rows, cols] = header.shape;
  return array(Uint8Array, header.maps + (layer * heads + head) * rows * cols, rows * cols);
}

function drawMap(app, { pen, box }, cells) {
  const [, , rows, cols] = app.payload.header.shape;
  const pixels = [box.h, box.w].map((side) => Math.max(1, Math.floor(side * sharpness())));
  const pooled = pooledByMax(cells, [rows, cols], pixels);
  const image = imageOf(pooled.data, [pooled.rows, pooled.cols], scaleOf(app, "sequential"), [0, 255]);
  pen.image(image, box.x, box.y, box.w, box.h);
  return "";
}

// The strongest lines of each row, queries on the left and keys on the right; one stroke for each shade.
function drawLines(app, { context, box }, cells) {
  const [, , rows, cols] = app.payload.header.shape;
  const shades = Array.from({ length: SHADES + 1 }, () => []);
  const y = (place, count) => box.y + ((place + 0.5) / count) * box.h;
  for (let row = 0; row < rows; row++)
    for (const col of strongestOf(cells, row * cols, cols))
      shades[Math.ceil((cells[row * cols + col] / 255) * SHADES)].push(y(row, rows), y(col, cols));
  return context ? strokeShades(app, context, box, shades) : svgShades(app, box, shades);
}

function strongestOf(cells, start, cols) {
  const best = [];
  for (let col = 0; col < cols; col++) {
    const value = cells[start + col];
    if (value < FAINTEST || (best.length === LINES_A_ROW && value <= cells[start + best[LINES_A_ROW - 1]])) continue;
    let at = best.length;
    while (at > 0 && cells[start + best[at - 1]] < value) at -= 1;
    best.splice(at, 0, col);
    best.length = Math.min(best.length, LINES_A_ROW);
  }
  return best;
}

function strokeShades(app, context, box, shades) {
  context.strokeStyle = app.theme.accent;
  context.lineWidth = 1;
  shades.forEach((ends, shade) => {
    if (!ends.length) return;
    context.globalAlpha = shade / SHADES;
    context.beginPath();
    for (let i = 0; i < ends.length; i += 2) {
      context.moveTo(box.x, ends[i]);
      context.lineTo(box.x + box.w, ends[i + 1]);
    }
    context.stroke();
  });
  context.globalAlpha = 1;
  return "";
}

function svgShades(app, box, shades) {
  const tenth = (value) => Math.round(value * 10) / 10;
  const path = (ends) =>
    range(ends.length / 2)
      .map((i) => `M${box.x} ${tenth(ends[2 * i])}L${box.x + box.w} ${tenth(ends[2 * i + 1])}`)
      .join("");
  return shades
    .map(
      (ends, shade) =>
        ends.length &&
        `<path d="${path(ends)}" stroke="${app.theme.accent}" stroke-opacity="${shade / SHADES}" fill="none"/>`,
    )
    .filter(Boolean)
    .join("");
}
