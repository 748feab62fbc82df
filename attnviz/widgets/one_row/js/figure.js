// The same picture for files.

import { layerCells, layerNames } from "../../shared/js/text.js";
import { entryCells, ENTRY_NAMES } from "../../shared/js/tokens/entries.js";
import { notesOf, titleOf } from "./shell.js";
import { isOff, paintStrips, weightsOf } from "./strips.js";

export const figureName = (app) => `row-${app.payload.header.kind}-${app.payload.header.row}`;

export const figureSize = (app) => [Math.max(480, app.layout.width + 12), app.layout.height + 48];

export const siteOf = (app) => titleOf(app);

export function figure(app, pen) {
  const below = app.layout.height;
  pen.text(titleOf(app), 12, below + 18, { size: 13, weight: 600 });
  pen.text(notesOf(app).join(" · "), 12, below + 37, { size: 11, colour: app.theme.muted });
  paintStrips(app, pen);
  return "";
}

export function csvRows(app) {
  const {
    shape,
    row,
    rows,
    cols,
    row_entries: ofRows,
    col_entries: ofCols,
    layer_numbers: numbers,
  } = app.payload.header;
  const [layers, heads] = shape;
  const names = ["head", "off", "row", "row_in", "row_out", "key_position", "key", "weight", ...ENTRY_NAMES];
  const lines = [[...layerNames(numbers), ...names]];
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++)
      weightsOf(app, layer, head).forEach((weight, key) =>
        lines.push([
          ...layerCells(numbers, layer),
          head,
          isOff(app, layer, head),
          row,
          ...rows[row],
          key,
          cols[key],
          weight,
          ...entryCells(ofRows[row], ofCols[key]),
        ]),
      );
  return lines;
}
