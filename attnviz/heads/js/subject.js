// The row of a map that the bars, the sentences above and the announcements speak of.

import { spokenText } from "../../kit/js/spans/spans.js";
import { rowName } from "../../kit/js/text.js";
import { coveredText, isTileCovered } from "./covers.js";
import { drawnMeasure } from "./measures.js";
import { focusOf, isInFocus, sharesRows } from "./map/tiles.js";

const BLIND_TEXT = {
  "no keys": "sees no key",
  "keys hidden": "sees only special tokens, which are hidden",
};

// A pinned row is one of the head in focus, or of the difference that is drawn; else it is the row under the pointer.
export function subjectOf(app) {
  const difference = app.tiles.find(({ signed, kind }) => signed && sharesRows(app, kind.kind));
  const tile = difference ?? app.tiles.find((drawn) => isInFocus(app, drawn)) ?? focusOf(app);
  if (app.view.row !== null) return { tile, row: app.view.row };
  const { hover } = app;
  const under = hover && app.tiles[hover.tile];
  const isThere = under?.kind.kind === hover?.kind && hover?.row < under?.kind.nRows;
  return isThere ? { tile: under, row: hover.row } : { tile, row: null };
}

// Why a row has nothing to look at: it may see no key, or only special tokens, and these are hidden.
export function blindness(tile, row) {
  const { kind, mask } = tile;
  if (isTileCovered(tile, row)) return "covered";
  if (!mask || mask.subarray(row * kind.nCols, (row + 1) * kind.nCols).includes(1)) return "";
  return kind.keys_hidden.includes(row) ? "keys hidden" : "no keys";
}

// The same in words; undefined for a row that looks at something, and for one that is covered.
export const blindText = (tile, row) => BLIND_TEXT[blindness(tile, row)];

// Words about the pinned row, for the live region and the picture's label.
export function activeText(app) {
  if (app.view.row === null) return "No row pinned.";
  const { tile, row } = subjectOf(app);
  const { kind, map } = tile;
  const name = spokenText(rowName(kind.rows[row]), kind.row_spans, row);
  if (isTileCovered(tile, row)) return `Row ${name}. ${coveredText(kind)}`;
  const top = topKeys(kind, map, row)
    .slice(0, 3)
    .map(([col, weight]) => `${spokenText(kind.cols[col], kind.spans, col)} ${weight.toFixed(3)}`);
  const verb = tile.signed ? "differs most at" : drawnMeasure(app).verb;
  return `Row ${name} ${blindText(tile, row) ?? `${verb} ${top.join(", ")}`}.`;
}

export function topKeys(kind, map, row) {
  const weights = map.data.subarray(row * kind.nCols, (row + 1) * kind.nCols);
  return [...weights.entries()].sort(([i, a], [j, b]) => Math.abs(b) - Math.abs(a) || i - j);
}
