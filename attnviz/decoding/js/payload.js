// Decoding of what Python sends (attnviz/decoding/stepper.py says how it is laid out).

import { meanOf, sitesOf } from "../../kit/js/cells.js";
import { scalesIn, unpack } from "../../kit/js/unpack.js";

export function decodePayload(bytes) {
  const { header, array } = unpack(bytes);
  return { header, kinds: header.kinds.map((raw) => readKind(raw, array)), scales: scalesIn({ header, array }) };
}

function readKind(raw, array) {
  const [layers, heads, nRows, nCols] = raw.shape;
  const length = raw.only ? nRows * nCols : layers * heads * nRows * nCols;
  return { ...raw, layers, heads, nRows, nCols, data: array(Float32Array, raw.offset, length), maps: new Map() };
}

// An encoder may have fewer layers or heads than its decoder, or more.
export const hasSite = (kind, layer, head) =>
  (layer === "mean" || layer < kind.layers) && (head === "mean" || head < kind.heads);

// One head's map or the mean of several; null where there is none, or Python has not sent it (a long text).
export function mapOf(kind, layer, head) {
  if (!hasSite(kind, layer, head)) return null;
  if (kind.only) return kind.only[0] === layer && kind.only[1] === head ? kind.data : null;
  const key = `${layer}/${head}`;
  if (!kind.maps.has(key)) kind.maps.set(key, ownMap(kind, layer, head));
  return kind.maps.get(key);
}

function ownMap(kind, layer, head) {
  const cells = kind.nRows * kind.nCols;
  const mapAt = ([l, h]) => kind.data.subarray((l * kind.heads + h) * cells, (l * kind.heads + h + 1) * cells);
  return meanOf(sitesOf(kind, layer, head).map(mapAt));
}
