// The weights of a picture. A payload holds the map in view, of every head the row and the column of one token, `data.at`,
// and of a small model every head's map. What it does not hold is null: the picture then says so.

import { isIndex, meanOf, range } from "../kit/js/cells.js";

// Weights of two bytes each, the high bytes first (attnviz/patches/patches.py).
function planesOf({ values }) {
  const count = values.length / 2;
  const weights = new Float32Array(count);
  for (let at = 0; at < count; at++) weights[at] = (256 * values[at] + values[count + at]) / 65535;
  return weights;
}

export function numbersOf(data) {
  return {
    map: data.map ? data.map.values : planesOf(data.planes),
    maps: data.maps ? data.maps.values : null,
    rows: planesOf(data.rows),
    columns: planesOf(data.columns),
    rolled: data.rollout_rows && { rows: planesOf(data.rollout_rows), columns: planesOf(data.rollout_columns) },
  };
}

// Layer, head and mix in view. The address of a file may ask for some that there are not.
export function siteOf({ data, view }) {
  const [layer, head, mix] = data.open;
  return [
    isIndex(view.layer, data.layers) ? view.layer : layer,
    isIndex(view.head, data.heads) ? view.head : head,
    ["head", "mean", "rollout"].includes(view.mix) ? view.mix : mix,
  ];
}

export const chosenOf = ({ data, view }) => (isIndex(view.at, data.tokens.length) ? view.at : 0);

// Of each head in view its part of `values`, which has `length` numbers a head; their mean.
function meanIn(picture, values, length) {
  const [layer, head, mix] = siteOf(picture);
  const heads = mix === "head" ? [head] : range(picture.data.heads);
  const numbers = heads.map((one) => layer * picture.data.heads + one);
  return meanOf(numbers.map((number) => values.subarray(number * length, (number + 1) * length)));
}

function isOpen(picture) {
  const [layer, head, mix] = picture.data.open;
  const seen = siteOf(picture);
  return seen[2] === mix && seen[0] === layer && (mix !== "head" || seen[1] === head);
}

// The whole map in view, a row for each token.
export function mapOf(picture, { map, maps }) {
  if (isOpen(picture)) return map;
  if (!maps || siteOf(picture)[2] === "rollout") return null;
  return meanIn(picture, maps, picture.data.tokens.length ** 2);
}

// What the chosen token takes from each token, or what each token takes from it.
export function weightsOf(picture, numbers, towards = picture.view.towards) {
  const [count, at] = [picture.data.tokens.length, chosenOf(picture)];
  const map = mapOf(picture, numbers);
  const side = towards === "to" ? "columns" : "rows";
  if (map) return side === "rows" ? map.subarray(at * count, (at + 1) * count) : columnOf(map, count, at);
  if (at !== picture.data.at) return null;
  const [layer, , mix] = siteOf(picture);
  if (mix !== "rollout") return meanIn(picture, numbers[side], count);
  return numbers.rolled ? numbers.rolled[side].subarray(layer * count, (layer + 1) * count) : null;
}

const columnOf = (map, count, at) => Float32Array.from({ length: count }, (_, row) => map[row * count + at]);

// Whether the weights in view were rounded to 65,535ths.
export const isRounded = (picture, numbers) =>
  isOpen(picture) ? Boolean(picture.data.planes) : !mapOf(picture, numbers);

// The rows or columns of all heads in bytes, each scaled to its own largest weight, for small pictures.
export function bytesOf(weights, peaks) {
  const bytes = new Uint8Array(weights.length);
  const length = weights.length / peaks.length;
  peaks.forEach((peak, head) => {
    const factor = 255 / (peak || 1);
    for (let at = head * length; at < (head + 1) * length; at++) bytes[at] = Math.min(255, weights[at] * factor + 0.5);
  });
  return bytes;
}
