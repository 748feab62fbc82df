// The painted mask: one byte a cell, 1 = may attend. Its text is that of attnviz/views/painting.py.

function paintOf(text, q, k) {
  const cells = new Uint8Array(q * k).fill(1);
  if (!text) return cells;
  const data = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
  const [rows, cols, ...runs] = varints(data);
  let at = 0, visible = 1;
  for (const run of runs) {
    for (let i = 0; i < run; i++, at++) {
      const row = Math.floor(at / cols), col = at % cols;
      if (!visible && row < Math.min(rows, q) && col < k) cells[row * k + col] = 0;
    }
    visible ^= 1;
  }
  return cells;
}

function textOf(cells, q, k) {
  if (!cells.includes(0)) return "";
  const numbers = [q, k];
  let visible = 1, run = 0;
  for (const cell of cells) {
    if (cell !== visible) { numbers.push(run); run = 0; visible = cell; }
    run += 1;
  }
  numbers.push(run);
  const bytes = numbers.flatMap(varint);
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function varint(number) {
  const bytes = [];
  for (; number > 127; number >>= 7) bytes.push((number & 127) | 128);
  return [...bytes, number];
}

function varints(bytes) {
  const numbers = [];
  let number = 0, shift = 0;
  for (const byte of bytes) {
    number |= (byte & 127) << shift;
    shift += 7;
    if (byte < 128) { numbers.push(number); number = shift = 0; }
  }
  return numbers;
}

const RULE_HINT = "Paint only hides more, for masks combine with &. “To paint” makes it paintable.";

const mayAttend = (app, i) => app.payload.rules[i] && app.cells[i];
const stateOf = (app, i) => (!app.payload.rules[i] ? "hidden by a rule" : !app.cells[i] ? "hidden by paint" : "may attend");

// Paint cells, draw at once, and tell Python: at the end of a stroke, or during it whenever the last answer has come.
function paintCells(app, indices, value) {
  let changed = false;
  for (const i of indices) if (app.cells[i] !== value) { app.cells[i] = value; changed = true; }
  if (!changed) return;
  app.edited = true;
  redraw(app, new Set(indices.map((i) => Math.floor(i / app.payload.k))));
  if (!app.stroke || app.answered >= app.seq) report(app);
  const hidden = indices.length === 1 && value && !app.payload.rules[indices[0]];
  announce(app, hidden ? `Hidden by a rule. ${RULE_HINT}` : null);
}

const rowCells = ({ payload: { k } }, row) => range(k).map((col) => row * k + col);
const colCells = ({ payload: { q, k } }, col) => range(q).map((row) => row * k + col);

// A whole row or column: hidden, unless all of it is hidden already.
function togglePart(app, indices) {
  paintCells(app, indices, indices.some((i) => app.cells[i]) ? 0 : 1);
}

function invertPaint(app) {
  const hidden = range(app.cells.length).filter((i) => app.cells[i]);
  const shown = range(app.cells.length).filter((i) => !app.cells[i]);
  for (const i of shown) app.cells[i] = 1;
  for (const i of hidden) app.cells[i] = 0;
  app.edited = true;
  redraw(app, range(app.payload.q));
  report(app);
}

function redraw(app, rows) {
  const began = performance.now();
  preview(app, rows);
  draw(app);
  app.root.dataset.attnvizEditMs = (performance.now() - began).toFixed(2);
}

// The rules become paint: the mask stays the same, and each of its cells can now be painted either way.
function bake(app) {
  app.cells = app.cells.map((cell, i) => (mayAttend(app, i) ? 1 : 0));
  app.payload.rules.fill(1);
  app.edited = true;
  report(app, { bake: true });
}

function report(app, more = {}) {
  clearTimeout(app.timer);
  app.timer = null;
  app.seq += 1;
  app.edited = false;
  app.sent = performance.now();
  const { q, k } = app.payload;
  const paint = textOf(app.cells, q, k);
  app.told = { paint };
  app.send("edit", { paint, row: app.row, zoom: app.zoom?.join(".") ?? "", bake: false, ...more, seq: app.seq });
}

// What is looked at, not edited: told once the hand has come to rest.
function reportSoon(app) {
  clearTimeout(app.timer);
  app.timer = setTimeout(() => report(app), 250);
}
