// What the picture shows, in words: for a screen reader, and for readers who would take a sink for an object.

import { labelOf, spokenOf } from "../kit/js/seen_image.js";
import { chosenOf, isRounded, mapOf, weightsOf } from "./weights.js";

const SINK = { share: 0.05, times: 8 }; // mean weight of a sink patch: at least this, and so many times the even share

const percent = (share) => `${(100 * share).toFixed(1)}%`;

// The rectangle of a text such as 0.2.1.3 (first and last row, first and last column), cut to the grid.
export function cells(text, [rows, columns]) {
  const parts = (text || "").split(".").map(Number);
  if (parts.length !== 4) return null;
  const [top, bottom, left, right] = parts;
  return top < rows && left < columns ? [top, Math.min(bottom, rows - 1), left, Math.min(right, columns - 1)] : null;
}

export function wordsOf(picture, facts) {
  const { data, view } = picture;
  const weights = weightsOf(picture, facts);
  if (!weights) return [missing(picture)];
  const isTo = view.towards === "to";
  const map = mapOf(picture, facts);
  return [
    strongest(data, weights, { at: chosenOf(picture), isTo }),
    ...ofSpecials(data, weights, { specials: facts.specials, isTo }),
    ...(map ? ofSinks(data, map) : []),
    ...ofBox(data, weights, { box: cells(view.box, data.grid), tokenOf: facts.tokenOf, isTo }),
    ...(isRounded(picture, facts) ? ["These weights are rounded to one part in 65,535."] : []),
  ];
}

// A file holds one whole map. In the app and in a notebook Python sends another one a moment later.
function missing({ data }) {
  const [layer, head, mix] = data.open;
  const name = data.names[layer];
  const whole = { head: `${name} H${head}`, mean: `the mean of ${name}`, rollout: `rollout up to ${name}` }[mix];
  const token = labelOf(data, data.at);
  return `These weights are not here. Only ${whole} is here with the weights of all tokens; of other heads, the weights from ${token} and to it are here.`;
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
