// The four maps with their labels, hatching and outlines. The same strokes go to the screen and into files.

function draw(app) {
  const began = performance.now();
  if (!app.payload || !app.width) return;
  const ruler = canvasPen(null, app.theme);
  app.layout = layoutOf(app, ruler, app.width, app.room);
  app.panels = panelsOf(app);
  const { width, height } = app.layout;
  const pen = canvasPen(cleared(app.parts.map, width, height), app.theme);
  drawLab(app, pen);
  drawMarks(app, pen);
  drawNumbers(app);
  app.root.dataset.attnvizMs = (performance.now() - began).toFixed(2);
}

function cleared(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function drawLab(app, pen) {
  for (const box of app.layout.boxes) {
    const panel = app.panels[box.name];
    drawTitle(app, pen, box, panel);
    if (box.name === "sums") drawSums(app, pen, box);
    else drawMap(app, pen, box, panel);
    if (app.layout.labelled.has(box.name)) drawRowNames(app, pen, box);
  }
}

function drawTitle(app, pen, box, panel) {
  const stacks = box.name === "context" && app.layout.labelled.has("context");
  const at = box.y - (stacks ? 0 : app.layout.heads) - TITLES + 8;
  const x = box.name === "sums" ? box.x + 4 : box.x;
  pen.text(panel.title, x, at, { size: 13, weight: 600 });
  pen.text(fitting(pen, panel.says ?? "", Math.max(box.w + GAP - 6, 46)), x, at + 16, { size: 11, colour: app.theme.muted });
}

function fitting(pen, text, width, size = 11) {
  if (pen.widthOf(text, size) <= width) return text;
  let kept = [...text];
  while (kept.length > 1 && pen.widthOf(`${kept.join("")}…`, size) > width) kept = kept.slice(0, -1);
  return `${kept.join("")}…`;
}

function drawMap(app, pen, box, panel) {
  const { q } = app.payload;
  if (!panel.data) {
    pen.box(box.x, box.y, box.w, box.h, { stroke: app.theme.line });
    pen.text(fitting(pen, "torch refused", box.w - 8), box.x + 6, box.y + Math.min(14, box.h / 2), { size: 11, colour: app.theme.muted });
    return;
  }
  pen.image(labImage(app, panel, [q, box.cols]), box.x, box.y, box.w, box.h);
  if (panel.hatched) pen.hatch(hiddenBoxes(app, box));
  pen.box(box.x - 0.5, box.y - 0.5, box.w + 1, box.h + 1, { stroke: app.theme.line });
  if (box.cols === app.payload.k) drawColNames(app, pen, box);
}

// Runs of hidden cells, one rectangle each: a long text has many cells and few runs.
function hiddenBoxes(app, box) {
  const { q, k } = app.payload, { w, h } = app.layout.cell;
  const boxes = [];
  for (let row = 0; row < q; row++)
    for (let col = 0; col < k; col++) {
      if (mayAttend(app, row * k + col)) continue;
      const from = col;
      while (col + 1 < k && !mayAttend(app, row * k + col + 1)) col += 1;
      boxes.push([box.x + from * w, box.y + row * h, (col - from + 1) * w, h]);
    }
  return boxes;
}

function everyNth(size, least) { return Math.max(1, Math.ceil(least / size)); }

function drawRowNames(app, pen, box) {
  const { h } = app.layout.cell;
  const nth = everyNth(h, 11.5), size = Math.min(LINE, Math.max(10, h));
  app.rowNames.forEach((name, row) => {
    if (row % nth && row !== app.row) return;
    const strong = row === app.row;
    pen.text(fitting(pen, name, app.layout.labels - 8, size), box.x - 6, box.y + (row + 0.5) * h, { size, align: "right", weight: strong ? 600 : 400, colour: strong ? app.theme.accent : app.theme.ink });
  });
}

function drawColNames(app, pen, box) {
  const { w } = app.layout.cell;
  const nth = everyNth(w, 12.5);
  app.payload.header.cols.forEach((name, col) => {
    if (col % nth) return;
    pen.text(fitting(pen, name, app.layout.heads / Math.sin(-SLOPE) - 10), box.x + (col + 0.5) * w, box.y - 7, { size: 11, angle: SLOPE });
  });
}

function drawSums(app, pen, box) {
  const { h } = app.layout.cell;
  const nth = everyNth(h, 11);
  sumsOf(app).forEach((sum, row) => {
    const off = Number.isNaN(sum) || Math.abs(sum - 1) > 5e-3;
    if (row % nth && !(off && h > 6)) return;
    pen.text(sumText(sum), box.x + 4, box.y + (row + 0.5) * h, { size: 11, weight: off ? 600 : 400, colour: off ? app.theme.accent : app.theme.muted });
  });
}

// What only the screen shows: the row and column under the pointer, the pinned row, the painter's cursor.
function drawMarks(app, pen) {
  const { w, h } = app.layout.cell, { k } = app.payload;
  for (const box of app.layout.boxes) {
    const band = (row, stroke) => pen.box(box.x - 1, box.y + row * h - 0.5, box.w + 2, h + 1, { stroke, width: 1.5, radius: 2 });
    if (app.hover?.row != null && app.hover.row !== app.row) band(app.hover.row, app.theme.faint);
    if (app.row !== null) band(app.row, app.theme.accent);
    if (box.cols === k && app.hover?.col != null && app.hover.box?.cols === k)
      pen.box(box.x + app.hover.col * w - 0.5, box.y, w + 1, box.h, { stroke: app.theme.faint, radius: 2 });
    if (box.name === "masked" && app.cursor && app.focused)
      pen.box(box.x + app.cursor.col * w, box.y + app.cursor.row * h, w, h, { stroke: app.theme.accent, width: 2.5 });
  }
}
