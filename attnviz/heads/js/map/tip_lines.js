// Lines of the bubble beside the pointer: of a map's cell, or of a row's or a column's name.

import { element } from "../../../kit/js/elements.js";
import { exactText } from "../../../kit/js/text.js";
import { coveredText, isTileCovered } from "../covers.js";
import { colLines, numberLine, rowLines } from "../../../kit/js/tokens/tip_lines.js";

export function tipLines(tile, row, col, measure = "weight") {
  const { kind, map, mask, signed } = tile;
  if (row === null) return colLines(kind, col);
  if (col === null) return rowLines(kind, row);
  if (isTileCovered(tile, row))
    return [...rowLines(kind, row), ...colLines(kind, col), element("div", { text: coveredText(kind) })];
  const seen = !mask || mask[row * kind.nCols + col];
  const value = map.data[row * kind.nCols + col];
  const number = `${map.exact ? "" : "≈ "}${exactText(value)}${map.exact ? "" : " (8-bit)"}`;
  const masked = seen ? [] : [element("span", { class: "tip-masked", text: " masked" })];
  return [
    ...rowLines(kind, row),
    ...colLines(kind, col),
    numberLine(signed ? "difference" : measure, number, ...masked),
    ...(signed || measure !== "weight" ? [] : sinkLines(kind, map, row)),
  ];
}

// The row's weight on its head's sink, which has no column.
function sinkLines(kind, map, row) {
  if (!kind.to_sink) return [];
  const weights = map.data.subarray(row * kind.nCols, (row + 1) * kind.nCols);
  const sunk = 1 - weights.reduce((sum, weight) => sum + weight, 0);
  return [
    element(
      "div",
      {},
      element("span", { class: "tip-name", text: "to the sink" }),
      element("span", { class: "tip-sink", text: `${map.exact ? "" : "≈ "}${exactText(sunk)}` }),
    ),
  ];
}
