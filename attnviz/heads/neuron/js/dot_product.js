// A weight taken apart, in the order in which it is computed.

import { isIndex, range } from "../../../kit/js/cells.js";

export const AT_ONCE = ["kind", "layer", "head"]; // only Python has another head's queries and keys

export function settle(app) {
  const [rows, cols] = app.payload.header.sizes;
  const { view } = app;
  readHead(app);
  if (!isIndex(view.row, rows)) view.row = 0;
  if (!isIndex(view.key, cols)) view.key = largestOf(rowSums(app, view.row).attn);
}

function readHead(app) {
  const { header, array } = app.payload;
  if (app.vectors?.base === header.base) return;
  const [rows, cols, size] = header.sizes;
  const part = (Type, offset, count) => (offset === null ? null : array(Type, offset, count));
  app.vectors = {
    base: header.base,
    query: array(Float32Array, header.query, rows * size),
    key: array(Float32Array, header.key, cols * size),
    bias: part(Float32Array, header.bias, rows * cols),
    mask: part(Uint8Array, header.mask, rows * cols),
  };
}

const largestOf = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);

// A query row's scores over all keys, and their softmax over those that the mask lets it see.
function rowSums(app, row) {
  const { vectors } = app;
  const { sizes, scale, softcap, sink } = app.payload.header;
  const [, cols, size] = sizes;
  const scores = new Float64Array(cols);
  const visible = new Array(cols).fill(true);
  for (let col = 0; col < cols; col++) {
    let dot = 0;
    for (let i = 0; i < size; i++) dot += vectors.query[row * size + i] * vectors.key[col * size + i];
    scores[col] = capped(dot * scale, softcap) + (vectors.bias ? vectors.bias[row * cols + col] : 0);
    if (vectors.mask) visible[col] = vectors.mask[row * cols + col] === 1;
  }
  const top = Math.max(sink ?? -Infinity, ...scores.filter((_, col) => visible[col]));
  const powers = scores.map((score, col) => (visible[col] ? Math.exp(score - top) : 0));
  const total = powers.reduce((sum, power) => sum + power, sink === null ? 0 : Math.exp(sink - top));
  return { scores, visible, attn: powers.map((power) => (total ? power / total : 0)) };
}

// A score that no longer grows beyond ±softcap (Gemma 2); without one, the score itself.
export const capped = (score, softcap) => (softcap === null ? score : softcap * Math.tanh(score / softcap));

export function pairOf(app) {
  const { row, key } = app.view;
  const { vectors } = app;
  const [, cols, size] = app.payload.header.sizes;
  const query = vectors.query.subarray(row * size, (row + 1) * size);
  const keys = vectors.key.subarray(key * size, (key + 1) * size);
  const product = Float64Array.from(query, (value, i) => value * keys[i]);
  const dot = product.reduce((sum, value) => sum + value, 0);
  const bias = vectors.bias ? vectors.bias[row * cols + key] : 0;
  const sums = rowSums(app, row);
  const order = range(size);
  if (app.view.order === "contribution") order.sort((a, b) => product[b] - product[a] || a - b);
  return { query, key: keys, product, dot, bias, order, ...sums, score: sums.scores[key], weight: sums.attn[key] };
}
