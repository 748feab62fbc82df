// PNG, SVG and CSV of what is drawn, made in the browser from the exact numbers; the whole trace comes from Python.

import { saveCSV, savePNG, saveSVG } from "../../kit/js/downloads.js";
import { ENTRY_NAMES, entryCells } from "../../kit/js/tokens/entries.js";
import { exactText, siteName } from "../../kit/js/text.js";
import { coveredText, isTileCovered } from "./covers.js";
import { figureNotes, scaleImage } from "./controls.js";
import { drawTiles, titleOf } from "./map/focus.js";
import { drawLabels } from "./map/labels.js";
import { markPinnedRow } from "./map/overlay.js";
import { pinName } from "./map/tiles.js";
import { isOfWeights, drawnMeasure } from "./measures.js";

export const EXPORTS = [
  ["PNG picture", (app) => exportExact(app, exportPNG)],
  ["SVG picture", (app) => exportExact(app, exportSVG)],
  ["CSV of the numbers", (app) => exportExact(app, exportCSV)],
  // The whole trace is Python's.
  ["npz of the whole trace", (app) => saveWhole(app), "npz"],
];

function saveWhole(app) {
  const kind = [...app.payload.kinds.values()].find(({ covered }) => covered);
  if (!app.host.saveTrace?.() && kind) say(app, coveredText(kind));
}

function exportExact(app, save) {
  const covered = app.tiles.find((tile) => isTileCovered(tile));
  if (save === exportCSV && covered) return say(app, coveredText(covered.kind));
  if (app.tiles.every(({ map }) => map.exact)) save(app);
  else say(app, "The exact numbers are still loading. Try again in a moment.");
}

function exportName(app) {
  const site = ({ kind, layer, head }) => `${kind.kind}-L${layer}-H${head}`;
  const { tiles } = app;
  const name = tiles[0].pair
    ? `difference-${tiles[0].pair.map(([, l, h]) => `L${l}-H${h}`).join("-")}`
    : tiles.map(site).join("_");
  return `attnviz-${name}${isOfWeights(app) ? "" : `-${drawnMeasure(app).column}`}`;
}

// Kind, layer and head of all that is drawn.
export function siteOf(app) {
  const { tiles, view } = app;
  const { kind, pair, layer, head } = tiles[0];
  if (pair) return `${kind.title}, ${pair.map(([, l, h]) => siteName(l, h)).join(" − ")}`;
  if (view.compare !== "side") return `${kind.title}, ${siteName(layer, head)}`;
  return tiles.map((tile) => pinName(app, [tile.kind.kind, tile.layer, tile.head])).join(", ");
}

// The whole figure: title, maps, legend. The maps on the screen keep their own places.
function drawFigure(app, pen, [width, height]) {
  const [title, question] = figureTitle(app);
  pen.text(title, 16, 20, { size: 14, weight: 600 });
  pen.text(question, 16 + pen.widthOf(title, 14, 600) + 10, 20, { colour: app.theme.muted });
  const tiles = app.tiles.map((tile) => ({ ...tile, heading: tile.heading && plainName(app, tile) }));
  drawTiles(app, pen, tiles, { x: 12, y: 40, w: width - 24, h: height - 84 });
  for (const tile of tiles) {
    drawLabels(app, pen, tile);
    markPinnedRow(app, pen, tile);
  }
  drawLegend(app, pen, height - 22);
}

function drawLegend(app, pen, y) {
  const { low, high, note } = app.range;
  const signed = app.tiles[0].signed;
  const text = signed ? `−${exactText(high)}` : exactText(low);
  pen.text(text, 16, y, { size: 11 });
  const x = 24 + pen.widthOf(text, 11);
  pen.image(scaleImage(app), x, y - 5, 140, 10);
  pen.text(`${signed ? "+" : ""}${exactText(high)}  ${figureNotes(app, note).join(" · ")}`, x + 148, y, {
    size: 11,
    colour: app.theme.muted,
  });
}

// A file has no controls, and nothing in it is in focus.
const figureTitle = (app) => (app.view.compare === "side" ? ["Heads side by side", ""] : titleOf(app));
const plainName = (app, { kind, layer, head }) => pinName(app, [kind.kind, layer, head]);

function figureSize(app) {
  const [width, height] = app.sizes.map;
  return [Math.max(560, width + 24), Math.max(420, height + 84)];
}

function exportPNG(app) {
  const size = figureSize(app);
  savePNG(app, exportName(app), size, (pen) => drawFigure(app, pen, size));
}

function exportSVG(app) {
  const size = figureSize(app);
  saveSVG(app, exportName(app), size, (pen) => drawFigure(app, pen, size));
}

function csvRows({ kind, map }, site) {
  const rows = [];
  for (let row = 0, i = 0; row < kind.nRows; row++)
    for (let col = 0; col < kind.nCols; col++, i++)
      rows.push([
        site,
        row,
        ...kind.rows[row],
        col,
        kind.cols[col],
        map.data[i],
        ...entryCells(kind.row_entries[row], kind.col_entries[col]),
      ]);
  return rows;
}

function exportCSV(app) {
  const site = ({ kind, layer, head, pair }) =>
    pair ? pair.map((pin) => pinName(app, pin)).join(" - ") : pinName(app, [kind.kind, layer, head]);
  const names = ["map", "row", "row_in", "row_out", "key_position", "key", drawnMeasure(app).column, ...ENTRY_NAMES];
  saveCSV(exportName(app), [names, ...app.tiles.flatMap((tile) => csvRows(tile, site(tile)))]);
}

function say(app, text) {
  app.parts.live.textContent = text;
  app.parts.note.textContent = text;
}
