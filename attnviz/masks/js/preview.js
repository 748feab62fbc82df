// The pipeline after an edit, before Python's numbers come: the same softmax here, so that paint shows its effect at once.
// Only for float32, which a browser's double precision agrees with to the last digits; half precision waits for torch.

import { range } from "../../kit/js/cells.js";
import { mayAttend } from "./cells.js";

export function preview(app, rows) {
  const { attn, header } = app.payload;
  if (!attn || header.words.dtype !== "float32") return;
  const fill = header.fill === null ? null : Number(header.fill.replaceAll("−", "-").replace("∞", "Infinity"));
  for (const row of rows) previewRow(app, row, fill);
}

function previewRow(app, row, fill) {
  const { k, scores, masked, attn, header } = app.payload;
  const from = row * k;
  const seen = range(k).map((col) => Boolean(mayAttend(app, from + col)));
  const put = seen.map((sees, col) => (sees || fill === null ? scores[from + col] : fill));
  const sink = header.sink ?? -Infinity; // the score of a place that is no token, in a head that has one
  const most = Math.max(sink, ...put);
  const powers = put.map((score) => Math.exp(score - most));
  const beside = header.sink === null ? 0 : Math.exp(sink - most);
  let weights = shares(powers, beside);
  const sunk = beside / (sum(powers) + beside);
  if (fill === null) weights = weights.map((weight, col) => (seen[col] ? weight : 0));
  if (header.words.renormalised) weights = shares(weights, sunk);
  if (header.words.fused && !seen.includes(true)) weights.fill(0);
  masked.set(put, from);
  attn.set(weights, from);
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

function shares(values, beside) {
  const total = sum(values) + beside;
  return values.map((value) => value / total);
}
