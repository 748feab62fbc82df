// PNG, SVG and CSV of what is drawn.

function exportLab(app, format) {
  app.parts.menu.open = false;
  ({ png: labPNG, svg: labSVG, csv: labCSV })[format](app);
}

function save(app, blob, ending) {
  const link = element("a", { href: URL.createObjectURL(blob), download: `attnviz-mask-${app.payload.header.words.file}.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const shifted = (pen, down) => ({
  ...pen,
  text: (text, x, y, style) => pen.text(text, x, y + down, style),
  box: (x, y, w, h, style) => pen.box(x, y + down, w, h, style),
  image: (image, x, y, w, h) => pen.image(image, x, y + down, w, h),
  hatch: (boxes) => pen.hatch(boxes.map(([x, y, w, h]) => [x, y + down, w, h])),
});

function labFigure(app, pen) {
  pen.text(app.payload.header.words.title, 10, 18, { size: 14, weight: 600 });
  drawLab(app, shifted(pen, 34));
  pen.text(legendText(app), 10, app.layout.height + 46, { size: 11, colour: app.theme.muted });
}

function labPNG(app) {
  const canvas = element("canvas", { width: app.layout.width * 2, height: (app.layout.height + 60) * 2 });
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.fillStyle = app.theme.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  labFigure(app, canvasPen(context, app.theme));
  canvas.toBlob((blob) => save(app, blob, "png"));
}

function labSVG(app) {
  const pen = svgPen(app.theme);
  labFigure(app, pen);
  save(app, new Blob([pen.document(app.layout.width, app.layout.height + 60)], { type: "image/svg+xml" }), "svg");
}

function labCSV(app) {
  const { q, k, header, scores, masked, attn } = app.payload;
  const cell = (text) => `"${String(text ?? "").replaceAll('"', '""')}"`;
  const lines = ["row,row_in,row_out,key_position,key,may_attend,score,masked_score,weight"];
  for (let row = 0, i = 0; row < q; row++)
    for (let col = 0; col < k; col++, i++)
      lines.push([row, ...header.rows[row].map(cell), col, cell(header.cols[col]), mayAttend(app, i) ? 1 : 0, scores[i], masked[i], attn ? attn[i] : ""].join(","));
  save(app, new Blob(["\ufeff", lines.join("\r\n"), "\r\n"], { type: "text/csv;charset=utf-8" }), "csv");
}
