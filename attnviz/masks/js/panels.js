// The four maps: title, numbers and colours of each.

import { range } from "../../kit/js/cells.js";
import { exactText } from "../../kit/js/text.js";
import { mix, scaleOf, stepOf } from "../../kit/js/theme.js";
import { columnsOf } from "./layout.js";
import { largestFinite } from "./payload.js";
import { sizeOf } from "./zoom_window.js";

export function panelsOf(app) {
  const { payload } = app;
  const { words } = payload.header;
  const most = largestFinite(payload.scores);
  const contextMost = largestFinite(payload.context);
  return {
    scores: {
      title: "1  Scores",
      says: "query · key × scale",
      data: payload.scores,
      scale: "diverging",
      low: -most,
      high: most,
    },
    masked: {
      title: "2  Masked scores",
      says: words.masked,
      hint: " · drag to paint",
      data: payload.masked,
      scale: "diverging",
      low: -most,
      high: most,
      hatched: true,
    },
    attn: {
      title: "3  Weights",
      says: words.weights,
      data: payload.attn,
      scale: "sequential",
      low: 0,
      high: 1,
      hatched: true,
    },
    sums: { title: "Σ", says: "row sum" },
    context: {
      title: "4  Context",
      says: "weights · values",
      data: payload.context,
      scale: "diverging",
      low: -contextMost,
      high: contextMost,
    },
  };
}

export function sumsOf({ payload: { attn, q, k } }) {
  if (!attn) return [];
  return range(q).map((row) => attn.subarray(row * k, (row + 1) * k).reduce((sum, weight) => sum + weight, 0));
}

// Cells of a map as an image: NaN is grey, an infinite score has the panel's own colour (its hatching says the rest).
export function labImage(app, panel, box) {
  const scale = scaleOf(app, panel.scale);
  const { rows } = app.layout.zoom;
  const [from, to] = columnsOf(app, box);
  const length = box.keys ? app.payload.k : app.payload.d;
  const image = new ImageData(to - from, sizeOf(rows));
  const pixels = new Uint32Array(image.data.buffer);
  const grey = packed32(mix(app.theme.inkRGB, app.theme.paperRGB, 0.42));
  const paper = packed32(app.theme.paperRGB);
  let pixel = 0;
  for (let row = rows[0]; row < rows[1]; row++)
    for (let col = from; col < to; col++) {
      const value = panel.data[row * length + col];
      pixels[pixel++] = Number.isNaN(value)
        ? grey
        : value === -Infinity
          ? paper
          : scale.pixels[stepOf(value, panel.low, panel.high)];
    }
  return image;
}

const packed32 = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

export const plain = (value) => {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  return exactText(value).replace("-", "−");
};

export const sumText = (sum) =>
  Number.isNaN(sum) ? "NaN" : Math.abs(sum - 1) < 5e-7 ? "1" : sum === 0 ? "0" : sum.toFixed(4);
