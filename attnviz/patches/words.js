// What the picture shows, in words: for a screen reader, and for readers who would take a sink for an object.

import { labelOf, spokenOf } from "../kit/js/seen_image.js";

const SINK = { share: 0.05, times: 8 }; // mean weight of a sink patch: at least this, and so many times the even share

const percent = (share) => `${(100 * share).toFixed(1)}%`;

// The rectangle of a text such as 0.2.1.3 (first and last row, first and last column), cut to the grid.
export function cells(text, [rows, columns]) {
  const parts = (text || "").split(".").map(Number);
  if (parts.length !== 4) return null;
  const [top, bottom, left, right] = parts;
  return top < rows && left < columns ? [top, Math.min(bottom, rows - 1), left, Math.min(right, columns - 1)] : null;
}

export function wordsOf({ data, view }, weights, { map, specials, tokenOf }) {
  const isTo = view.towards === "to";
  const count = data.tokens.length;
  const at = Math.min(view.at ?? 0, count - 1);
  return [
    strongest(data, weights, { at, isTo }),
    ...ofSpecials(data, weights, { specials, isTo }),
    ...ofSinks(data, map),
    ...ofBox(data, weights, { box: cells(view.box, data.grid), tokenOf, isTo }),
    ...(data.planes ? ["Weights in this file are rounded to one part in 65,535."] : []),
  ];
}

function strongest(data, weights, { at, isTo }) {
  const order = [...weights.keys()].sort((one, other) => weights[other] - weights[one]).slice(0, 3);
  const named = order.map((token) => `${labelOf(data, token)} (${weights[token].toFixed(4)})`).join("; ");
  const name = spokenOf(data, at);
  return isTo ? `${name} gets the largest weights from ${named}.` : `${name} looks most at ${named}.`;
}

function ofSpecials(data, weights, { specials, isTo }) {
  if (!specials.length || isTo) return [];
  const total = specials.reduce((sum, token) => sum + weights[token], 0);
  const each = specials.map((token) => `${data.tokens[token]} ${percent(weights[token])}`).join(", ");
  return [`${percent(total)} of its weight goes to tokens that have no place in the image: ${each}.`];
}

// A patch that draws much weight from everywhere often stores something about the whole image.
function ofSinks(data, map) {
  const count = data.tokens.length;
  const means = new Float64Array(count);
  for (let at = 0; at < map.length; at++) means[at % count] += map[at] / count;
  const least = Math.max(SINK.share, SINK.times / count);
  const found = [...means.keys()].filter((token) => data.places[token] && means[token] >= least);
  const named = found
    .slice(0, 4)
    .map((token) => `${labelOf(data, token)} (${percent(means[token])})`)
    .join("; ");
  if (!found.length) return [];
  const [which, is] = found.length > 1 ? ["These patches draw", "are sinks"] : ["This patch draws", "is a sink"];
  return [`${which} much of the weight of all tokens, so ${is} and may show no object: ${named}.`];
}

function ofBox(data, weights, { box, tokenOf, isTo }) {
  if (!box) return [];
  const [top, bottom, left, right] = box;
  let sum = 0;
  for (let row = top; row <= bottom; row++)
    for (let column = left; column <= right; column++) sum += weights[tokenOf.get(`${row},${column}`)];
  const size = `${bottom - top + 1} × ${right - left + 1} patches`;
  return [`The rectangle of ${size} ${isTo ? "gives" : "gets"} ${sum.toFixed(4)} in total.`];
}
