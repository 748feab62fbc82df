// PNG and SVG of the maps, CSV of the rows so far, made in the browser from the numbers it has.

import { saveCSV, savePNG, saveSVG } from "../../kit/js/downloads.js";
import { ENTRY_NAMES, entryCells } from "../../kit/js/tokens/entries.js";
import { siteName } from "../../kit/js/text.js";
import { isWaiting } from "./choice.js";
import { rowEntries, rowTexts, stackedHeight } from "./layout.js";
import { drawMaps } from "./maps.js";
import { hasSite, mapOf } from "./payload.js";

export const EXPORTS = [
  [
    "PNG picture",
    (app) => onceThere(app, () => savePNG(app, fileName(app), figureSize(app), (pen) => drawMaps(app, pen))),
  ],
  [
    "SVG picture",
    (app) => onceThere(app, () => saveSVG(app, fileName(app), figureSize(app), (pen) => drawMaps(app, pen))),
  ],
  ["CSV of the rows so far", (app) => onceThere(app, () => saveCSV(fileName(app), csvRows(app)))],
];

export function siteOf(app) {
  const { step, layer, head } = app.view;
  const kinds = new Set(app.payload.kinds.filter((kind) => hasSite(kind, layer, head)).map(({ title }) => title));
  return `${[...kinds].join(", ")}, ${siteName(layer, head)}, step ${step}`;
}

// A head that is still on its way would be saved as the words that ask for it.
function onceThere(app, save) {
  if (isWaiting(app)) setTimeout(() => onceThere(app, save), 100);
  else save();
}

const fileName = ({ view: { step, layer, head } }) => `attnviz-step-${step}-L${layer}-H${head}`;

const figureSize = (app) => [app.sizes.map[0], Math.max(app.sizes.map[1], stackedHeight(app.boxes))];

function csvRows(app) {
  const lines = [["kind", "computed_by", "row", "row_label", "key_position", "key", "weight", ...ENTRY_NAMES]];
  for (const kind of app.payload.kinds) {
    const map = mapOf(kind, app.view.layer, app.view.head);
    const texts = rowTexts(app, kind);
    if (!map) continue;
    const rows = kind.follows ? app.view.step + 1 : kind.nRows;
    for (let row = 0; row < rows; row++)
      for (let col = 0; col < (kind.grows_keys ? row + 1 : kind.nCols); col++)
        lines.push([
          kind.kind,
          kind.by,
          row,
          texts[row],
          col,
          kind.cols[col],
          map[row * kind.nCols + col],
          ...entryCells(rowEntries(app, kind, row), kind.col_entries[col]),
        ]);
  }
  return lines;
}
