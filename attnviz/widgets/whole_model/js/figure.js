// The same picture for files.

import { layerCells, layerNames } from "../../shared/js/text.js";
import { mapBytes, paintMiniatures } from "./miniatures.js";
import { notesOf } from "./shell.js";

export const figureName = (app) => `whole-model-${app.payload.header.kind}-${app.view.mini}`;

export const figureSize = (app) => [Math.max(480, app.layout.width + 12), app.layout.height + 48];

export const siteOf = (app) => `${app.payload.header.title}, every layer and head`;

export function figure(app, pen, context) {
  const { header } = app.payload;
  const below = app.layout.height;
  pen.text(`${header.title}: every head`, 12, below + 18, { size: 13, weight: 600 });
  pen.text(notesOf(app).join(" · "), 12, below + 37, { size: 11, colour: app.theme.muted });
  return paintMiniatures(app, pen, context);
}

// Eight bits are for pictures: each number is a byte, the largest weight under its cell times 255.
export function csvRows(app) {
  const [layers, heads, , cols] = app.payload.header.shape;
  const numbers = app.payload.header.layer_numbers;
  const lines = [[...layerNames(numbers), "head", "cell_row", "cell_col", "largest_weight_of_255"]];
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++)
      mapBytes(app, layer, head).forEach((value, i) =>
        lines.push([...layerCells(numbers, layer), head, Math.floor(i / cols), i % cols, value]),
      );
  return lines;
}
