// PNG, SVG and CSV of what is drawn, made in the browser from the exact numbers; the whole trace comes from Python.

function exportAs(app, format) {
  app.parts.exportMenu.open = false;
  // The whole trace is Python's: the page has a hidden button of its own for it.
  if (format === "npz") return document.querySelector(".st-key-npz button")?.click();
  if (app.tiles.some(({ map }) => !map.exact))
    return say(app, "The exact numbers are still on their way; please try again in a moment.");
  ({ png: exportPNG, svg: exportSVG, csv: exportCSV })[format](app);
}

function exportName(app, ending) {
  const site = ({ kind, layer, head }) => `${kind.kind}-L${layer}-H${head}`;
  const { tiles } = app;
  const name = tiles[0].pair
    ? `difference-${tiles[0].pair.map(([, l, h]) => `L${l}-H${h}`).join("-")}`
    : tiles.map(site).join("_");
  return `attnviz-${name}.${ending}`;
}

function download(app, blob, ending) {
  const link = element("a", { href: URL.createObjectURL(blob), download: exportName(app, ending) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// The whole figure: title, maps, legend. Drawn anew for the file, then once more for the screen, whose geometry it
// replaced.
function drawFigure(app, pen, [width, height]) {
  const [title, question] = titleOf(app);
  pen.text(title, 16, 20, { size: 14, weight: 600 });
  pen.text(question, 16 + pen.widthOf(title, 14, 600) + 10, 20, { colour: app.theme.muted });
  drawTiles(app, pen, { x: 12, y: 40, w: width - 24, h: height - 84 });
  for (const { geometry, kind } of app.tiles)
    if (app.view.row !== null && sharesRows(app, kind.kind)) outlineRow(app, pen, { geometry, row: app.view.row });
  drawLegend(app, pen, height - 22);
}

function drawLegend(app, pen, y) {
  const { low, high, note } = app.range;
  const signed = app.tiles[0].signed;
  const text = signed ? `−${exactText(high)}` : exactText(low);
  pen.text(text, 16, y, { size: 11 });
  const x = 24 + pen.widthOf(text, 11);
  const steps = Float32Array.from(range(256));
  pen.image(imageOf(steps, [1, 256], scaleOf(app, signed ? "diverging" : "sequential"), [0, 255]), x, y - 5, 140, 10);
  pen.text(`${signed ? "+" : ""}${exactText(high)}  ${legendNotes(app, note).join(" · ")}`, x + 148, y, {
    size: 11,
    colour: app.theme.muted,
  });
}

function figureSize(app) {
  const [width, height] = app.sizes.map;
  return [Math.max(560, width + 24), Math.max(420, height + 84)];
}

function exportPNG(app) {
  const [width, height] = figureSize(app);
  const canvas = element("canvas");
  canvas.width = width * 2;
  canvas.height = height * 2;
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.fillStyle = app.theme.paper;
  context.fillRect(0, 0, width, height);
  drawFigure(app, canvasPen(context, app.theme), [width, height]);
  paintFocus(app);
  canvas.toBlob((blob) => download(app, blob, "png"));
}

function exportSVG(app) {
  const size = figureSize(app);
  const pen = svgPen(app.theme);
  drawFigure(app, pen, size);
  paintFocus(app);
  download(app, new Blob([pen.document(...size)], { type: "image/svg+xml" }), "svg");
}

const quoted = (text) => `"${String(text ?? "").replaceAll('"', '""')}"`;

function csvLines({ kind, map }, site) {
  const lines = [];
  for (let row = 0, i = 0; row < kind.nRows; row++)
    for (let col = 0; col < kind.nCols; col++, i++)
      lines.push(
        [
          site,
          row,
          quoted(kind.rows[row][0]),
          quoted(kind.rows[row][1]),
          col,
          quoted(kind.cols[col]),
          map.data[i],
        ].join(","),
      );
  return lines;
}

function exportCSV(app) {
  const site = ({ kind, layer, head, pair }) =>
    quoted(pair ? pair.map((pin) => pinName(app, pin)).join(" - ") : pinName(app, [kind.kind, layer, head]));
  const lines = [
    "map,row,row_in,row_out,key_position,key,weight",
    ...app.tiles.flatMap((tile) => csvLines(tile, site(tile))),
  ];
  // The mark at the start makes spreadsheet programs read UTF-8.
  download(app, new Blob(["\ufeff", lines.join("\r\n"), "\r\n"], { type: "text/csv;charset=utf-8" }), "csv");
}

function say(app, text) {
  app.parts.live.textContent = text;
  app.parts.note.textContent = text;
}
