// The picture as on the screen, and its numbers. A tab brings `figure(app, pen, context)`, which draws and returns as SVG
// what a pen has no stroke for, `figureSize(app)`, `figureName(app)` and `csvRows(app)`.

const fileName = (app) => `attnviz-${figureName(app)}`;
const drawn = (app) => (pen, context) => figure(app, pen, context);

const EXPORTS = [
  ["PNG picture", (app) => savePNG(app, fileName(app), figureSize(app), drawn(app))],
  ["SVG picture", (app) => saveSVG(app, fileName(app), figureSize(app), drawn(app))],
  ["CSV of the numbers", (app) => saveCSV(fileName(app), csvRows(app))],
];
