// Where the four maps lie: side by side with one row axis, or one below the other on a phone. CSS pixels.

const LINE = 12, SLOPE = -Math.PI / 3.2, MOST_CELL = 30, GAP = 16, TITLES = 36, SUMS = 52;

function layoutOf(app, pen, width, room) {
  const { q, k, d } = app.payload;
  const labels = Math.min(width * 0.22, 150, 10 + Math.max(30, ...app.rowNames.map((name) => pen.widthOf(name, LINE))));
  const heads = Math.min(88, 12 + Math.max(20, ...app.payload.header.cols.map((text) => pen.widthOf(text, 11))) * Math.sin(-SLOPE));
  const top = TITLES + heads;
  if (width < 700) return stacked({ width, labels, top, q, k, d });
  const contextWidth = d ? Math.min(150, Math.max(80, width * 0.12)) : 0;
  const free = width - labels - SUMS - contextWidth - 4 * GAP - heads * 0.5;
  const w = Math.max(0.6, Math.min(MOST_CELL, free / (3 * k)));
  const h = Math.max(room < 300 ? 4 : 3, Math.min(MOST_CELL, (room - top - 6) / q));
  const boxes = [];
  let x = labels + 4;
  for (const name of ["scores", "masked", "attn"]) { boxes.push({ name, x, y: top, w: w * k, h: h * q, cols: k }); x += w * k + GAP; }
  boxes.push({ name: "sums", x: x - GAP + 4, y: top, w: SUMS, h: h * q, cols: 1 });
  if (d) boxes.push({ name: "context", x: x + SUMS, y: top, w: contextWidth, h: h * q, cols: d });
  return { boxes, labels, heads, labelled: new Set(["scores"]), cell: { w, h }, height: top + h * q + 8, width };
}

function stacked({ width, labels, top, q, k, d }) {
  const w = Math.max(0.6, Math.min(MOST_CELL, (width - labels - SUMS - 24) / k));
  const h = Math.max(3, Math.min(18, w * 1.1));
  const boxes = [];
  let y = 0;
  for (const name of ["scores", "masked", "attn", ...(d ? ["context"] : [])]) {
    const own = name === "context" ? TITLES : top;
    boxes.push({ name, x: labels + 4, y: y + own, w: name === "context" ? width - labels - 30 : w * k, h: h * q, cols: name === "context" ? d : k });
    if (name === "attn") boxes.push({ name: "sums", x: labels + 8 + w * k, y: y + own, w: SUMS, h: h * q, cols: 1 });
    y += own + h * q + 10;
  }
  return { boxes, labels, heads: top - TITLES, labelled: new Set(["scores", "masked", "attn", "context"]), cell: { w, h }, height: y + 6, width };
}

function cellAt(app, x, y) {
  const { boxes, labels, cell } = app.layout;
  const { q } = app.payload;
  for (const box of boxes) {
    const row = Math.floor((y - box.y) / cell.h), col = Math.floor(((x - box.x) / box.w) * box.cols);
    const inRows = row >= 0 && row < q, inCols = col >= 0 && col < box.cols;
    if (inRows && inCols) return { box, row, col };
    if (inRows && x < box.x && x > box.x - labels && app.layout.labelled.has(box.name)) return { box, row, col: null };
    if (inCols && y < box.y && y > box.y - app.layout.heads && box.cols === app.payload.k) return { box, row: null, col };
  }
  return null;
}
