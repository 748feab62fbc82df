// All strips on one canvas, or in a file, with the names of the keys above and each head's strongest key beside it.

import { pooledByMax, range } from "../../../kit/js/cells.js";
import { drawBandsAbove } from "../../../kit/js/spans/bands.js";
import { isTemplate } from "../../../kit/js/spans/spans.js";
import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { sharpness } from "../../../kit/js/resize.js";
import { shortText, siteName } from "../../../kit/js/text.js";
import { imageOf, scaleOf } from "../../../kit/js/theme.js";

export const NAME = { size: 11, longest: 84, apart: 13 }; // of a key: pixels, and from one to the next

export function weightsOf({ payload: { header, array } }, layer, head) {
  const [, heads, keys] = header.shape;
  return array(Float32Array, header.strips + 4 * (layer * heads + head) * keys, keys);
}

export const isOff = ({ payload }, layer, head) => payload.header.off.some(([l, h]) => l === layer && h === head);

// The largest weight that the colours reach to.
export function highest(app) {
  if (app.view.scale !== "max") return 1;
  const [layers, heads] = app.payload.header.shape;
  const tops = range(layers).flatMap((layer) => range(heads).map((head) => Math.max(...weightsOf(app, layer, head))));
  return Math.max(...tops) || 1;
}

export function strongest(weights) {
  return weights.reduce((best, weight, at) => (weight > weights[best] ? at : best), 0);
}

export function paintStrips(app, pen) {
  const { layout } = app;
  const high = highest(app);
  paintKeys(app, pen);
  for (let layer = 0; layer < layout.layers; layer++)
    for (let head = 0; head < layout.heads; head++) paintStrip(app, pen, [layer, head], high);
  return "";
}

function paintStrip(app, pen, [layer, head], high) {
  const { layout, payload, theme } = app;
  const { x, y, w, h } = layout.box(layer, head);
  const weights = weightsOf(app, layer, head);
  const pixels = [1, Math.max(1, Math.floor(w * sharpness()))];
  const { data, cols } = pooledByMax(weights, [1, layout.keys], pixels);
  pen.image(imageOf(data, [1, cols], scaleOf(app, "sequential"), [0, high]), x, y, w, h);
  pen.hatch(payload.header.unseen.map((key) => [x + key * layout.cell, y, layout.cell, h]));
  pen.box(x - 0.5, y - 0.5, w + 1, h + 1, { stroke: theme.line });
  const off = isOff(app, layer, head);
  const colour = off ? theme.muted : theme.ink;
  pen.text(siteName(layer, head), x - 6, y + h / 2, { ...NAME, colour, align: "right" });
  const top = strongest(weights);
  const said = `${off ? "off · " : ""}${shortText(weights[top])} ${payload.header.cols[top] ?? ""}`;
  pen.text(shortened(pen, said, layout.right - 10, NAME), x + w + 8, y + h / 2, { ...NAME, colour: theme.muted });
  if (off) pen.line(x, y + h / 2, x + w, y + h / 2, { stroke: theme.ink });
}

// How many keys there are to a name: as many names are written as stand beside each other.
export const keysToAName = ({ layout }) => Math.ceil(NAME.apart / layout.cell);

function paintKeys(app, pen) {
  const { layout, payload, theme } = app;
  const step = keysToAName(app);
  const { spans } = payload.header;
  drawBandsAbove(app, pen, spans, { x: layout.left, y: layout.top - 3, w: layout.cell, window: [0, layout.keys] });
  for (let key = 0; key < layout.keys; key += step) {
    const text = shortened(pen, payload.header.cols[key], NAME.longest, NAME);
    const x = layout.left + (key + 0.5) * layout.cell;
    const style = isTemplate(spans, key) ? { colour: theme.muted, italic: true } : { colour: theme.ink };
    pen.text(text, x, layout.top - layout.band - 10, { ...NAME, ...style, angle: -Math.PI / 4 });
  }
}
