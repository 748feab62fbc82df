// PNG and SVG of the maps, CSV of the rows so far, made in the browser from the numbers it has.

function exportAs(app, format) {
  app.parts.exportMenu.open = false;
  ({ png: exportPNG, svg: exportSVG, csv: exportCSV })[format](app);
}

function download(app, blob, ending) {
  const { step, layer, head } = app.view;
  const link = element("a", { href: URL.createObjectURL(blob), download: `attnviz-step-${step}-L${layer}-H${head}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const figureSize = (app) => [app.sizes.map[0], Math.max(app.sizes.map[1], stackedHeight(app.boxes))];

function exportPNG(app) {
  const [width, height] = figureSize(app);
  const canvas = element("canvas", { width: width * 2, height: height * 2 });
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.fillStyle = app.theme.paper;
  context.fillRect(0, 0, width, height);
  drawMaps(app, canvasPen(context, app.theme));
  canvas.toBlob((blob) => download(app, blob, "png"));
}

function exportSVG(app) {
  const pen = svgPen(app.theme);
  drawMaps(app, pen);
  download(app, new Blob([pen.document(...figureSize(app))], { type: "image/svg+xml" }), "svg");
}

const quoted = (text) => `"${String(text ?? "").replaceAll('"', '""')}"`;

function exportCSV(app) {
  const lines = ["kind,row,row_label,key_position,key,weight"];
  for (const kind of app.payload.kinds) {
    const map = mapOf(kind, app.view.layer, app.view.head), texts = rowTexts(app, kind);
    const rows = kind.grows ? app.view.step + 1 : kind.nRows;
    for (let row = 0; map && row < rows; row++)
      for (let col = 0; col < (kind.grows_keys ? row + 1 : kind.nCols); col++)
        lines.push([kind.kind, row, quoted(texts[row]), col, quoted(kind.cols[col]), map[row * kind.nCols + col]].join(","));
  }
  // The mark at the start makes spreadsheet programs read UTF-8.
  download(app, new Blob(["\ufeff", lines.join("\r\n"), "\r\n"], { type: "text/csv;charset=utf-8" }), "csv");
}
