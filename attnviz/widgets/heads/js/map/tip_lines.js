// What the note beside the pointer says of a map's cell, or of a row's or a column's name.

import { element } from "../../../shared/js/elements.js";
import { exactText } from "../../../shared/js/text.js";
import { colLines, numberLine, rowLines } from "../../../shared/js/tokens/tip_lines.js";

export function tipLines({ kind, map, mask, signed }, row, col) {
  if (row === null) return colLines(kind, col);
  if (col === null) return rowLines(kind, row);
  const seen = !mask || mask[row * kind.nCols + col];
  const value = map.data[row * kind.nCols + col];
  const number = `${map.exact ? "" : "≈ "}${exactText(value)}${map.exact ? "" : " (8-bit)"}`;
  const masked = seen ? [] : [element("span", { class: "tip-masked", text: " masked" })];
  return [
    ...rowLines(kind, row),
    ...colLines(kind, col),
    numberLine(signed ? "difference" : "weight", number, ...masked),
  ];
}
