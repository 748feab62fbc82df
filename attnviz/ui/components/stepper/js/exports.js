// PNG and SVG of the maps, CSV of the rows so far, made in the browser from the numbers it has.

const EXPORTS = [
  ["PNG picture", (app) => savePNG(app, fileName(app), figureSize(app), (pen) => drawMaps(app, pen))],
  ["SVG picture", (app) => saveSVG(app, fileName(app), figureSize(app), (pen) => drawMaps(app, pen))],
  ["CSV of the rows so far", (app) => saveCSV(fileName(app), csvRows(app))],
];

function siteOf(app) {
  const { step, layer, head } = app.view;
  const kinds = app.payload.kinds.filter((kind) => hasSite(kind, layer, head)).map(({ title }) => title);
  return `${kinds.join(", ")}, ${siteName(layer, head)}, step ${step}`;
}

const fileName = ({ view: { step, layer, head } }) => `attnviz-step-${step}-L${layer}-H${head}`;

const figureSize = (app) => [app.sizes.map[0], Math.max(app.sizes.map[1], stackedHeight(app.boxes))];

function csvRows(app) {
  const lines = [["kind", "row", "row_label", "key_position", "key", "weight"]];
  for (const kind of app.payload.kinds) {
    const map = mapOf(kind, app.view.layer, app.view.head), texts = rowTexts(app, kind);
    const rows = kind.grows ? app.view.step + 1 : kind.nRows;
    for (let row = 0; map && row < rows; row++)
      for (let col = 0; col < (kind.grows_keys ? row + 1 : kind.nCols); col++)
        lines.push([kind.kind, row, texts[row], col, kind.cols[col], map[row * kind.nCols + col]]);
  }
  return lines;
}
