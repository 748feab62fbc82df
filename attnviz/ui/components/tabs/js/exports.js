// PNG and SVG as on the screen, and the numbers as CSV. A tab brings `figure(app, pen)`, which draws and returns what a
// pen has no stroke for as SVG, `figureSize(app)`, `figureName(app)` and `csvRows(app)`.

function exportMenu(app) {
  const item = (text, act) =>
    button(text, {
      role: "menuitem",
      onclick: () => {
        app.parts.exports.open = false;
        act(app);
      },
    });
  app.parts.exports = element(
    "details",
    { class: "menu" },
    element("summary", { text: "Export" }),
    element(
      "div",
      { class: "menu-list", role: "menu" },
      item("PNG picture", exportPNG),
      item("SVG picture", exportSVG),
      item("CSV of the numbers", exportCSV),
    ),
  );
  return app.parts.exports;
}

function download(app, blob, ending) {
  const link = element("a", { href: URL.createObjectURL(blob), download: `attnviz-${figureName(app)}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
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
  figure(app, canvasPen(context, app.theme), context);
  canvas.toBlob((blob) => download(app, blob, "png"));
}

function exportSVG(app) {
  const pen = svgPen(app.theme);
  const extra = figure(app, pen, null) ?? "";
  const text = pen.document(...figureSize(app)).replace(/<\/svg>\s*$/, () => `${extra}</svg>`);
  download(app, new Blob([text], { type: "image/svg+xml" }), "svg");
}

const quoted = (text) => `"${String(text ?? "").replaceAll('"', '""')}"`;

function exportCSV(app) {
  // The mark at the start makes spreadsheet programs read UTF-8.
  const lines = csvRows(app).map((row) =>
    row.map((cell) => (typeof cell === "number" ? cell : quoted(cell))).join(","),
  );
  download(app, new Blob(["\ufeff", lines.join("\r\n"), "\r\n"], { type: "text/csv;charset=utf-8" }), "csv");
}
