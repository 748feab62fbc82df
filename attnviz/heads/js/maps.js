// A head's map, or the mean of several, from the exact numbers where they are here and from the overview where not.

import { binsOf, meanOf, range, sitesOf } from "../../kit/js/cells.js";
import { isOfWeights } from "./measures.js";
import { maskOf, siteKey } from "./payload.js";

const KEPT_MAPS = 96; // maps are kept from one payload to the next while text and model stay the same

export function mapOf(app, kindName, layer, head) {
  const key = siteKey(kindName, layer, head);
  const found = app.maps.get(key);
  if (found?.exact) return found;
  const kind = app.payload.kinds.get(kindName);
  const map = exactMap(app, kind, layer, head) ?? found ?? { data: inPassing(app, kind, layer, head), exact: false };
  app.maps.delete(key);
  app.maps.set(key, map);
  if (app.maps.size > KEPT_MAPS) app.maps.delete(app.maps.keys().next().value);
  return map;
}

function exactMap(app, kind, layer, head) {
  const own = app.payload.exact.get(siteKey(kind.kind, layer, head));
  if (own) return { data: own, exact: true };
  if (layer !== "mean" && head !== "mean") return null;
  const sites = sitesOf(kind, layer, head);
  const parts = sites.map(([l, h]) => app.payload.exact.get(siteKey(kind.kind, l, h)));
  if (!parts.every(Boolean)) return null;
  const masks =
    kind.masks && kind.masks.layers * kind.masks.heads > 1 ? sites.map(([l, h]) => maskOf(kind, l, h)) : null;
  return { data: meanOf(parts, masks && rowsSeeing(kind, masks)), exact: true };
}

// For each row, in how many of the maps it sees any key.
function rowsSeeing(kind, masks) {
  const seeing = new Array(kind.nRows).fill(masks.length);
  for (const mask of masks) for (const row of rowsWithoutKeys(mask, kind.nRows, kind.nCols)) seeing[row] -= 1;
  return seeing;
}

export function thumbOf(kind, layer, head) {
  const cells = kind.thumbHeight * kind.thumbWidth;
  const at = ([l, h]) => kind.thumbs.subarray((l * kind.heads + h) * cells, (l * kind.heads + h + 1) * cells);
  const parts = sitesOf(kind, layer, head).map(at);
  return parts.length === 1 ? parts[0] : Uint8Array.from(meanOf(parts), Math.round);
}

// Until the numbers are here: the thumbnail, where it is of the same measure; else nothing.
const inPassing = (app, kind, layer, head) =>
  isOfWeights(app) ? coarseMap(kind, layer, head) : new Float32Array(kind.nRows * kind.nCols);

function coarseMap(kind, layer, head) {
  const thumb = thumbOf(kind, layer, head);
  const rowBin = binsOf(kind.nRows, kind.thumbHeight);
  const colBin = binsOf(kind.nCols, kind.thumbWidth);
  const data = new Float32Array(kind.nRows * kind.nCols);
  for (let row = 0, i = 0; row < kind.nRows; row++) {
    const from = rowBin[row] * kind.thumbWidth;
    for (let col = 0; col < kind.nCols; col++) data[i++] = thumb[from + colBin[col]] / 255;
  }
  return data;
}

function rowsWithoutKeys(mask, nRows, nCols) {
  if (!mask) return [];
  return range(nRows).filter((row) => !mask.subarray(row * nCols, (row + 1) * nCols).includes(1));
}
