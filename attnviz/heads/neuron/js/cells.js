// Every element of query, key and their product as a coloured cell: three strips above each other, in as many blocks as
// the width asks for.

import { clamp } from "../../../kit/js/cells.js";
import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { announce } from "../../../kit/js/live_region.js";
import { pointIn } from "../../../kit/js/resize.js";
import { exactText } from "../../../kit/js/text.js";
import { colourAt, css, scaleOf, stepOf } from "../../../kit/js/theme.js";

const LOWEST_STRIP = 24;
const HIGHEST_STRIP = 110;
const NUMBERS = 30; // below each block
const NAMES = 46;
const WIDEST_CELL = 26;
const LEAST_CELL = 9;

export function paintCells(app) {
  const { parts } = app;
  const width = parts.cellBox.clientWidth;
  app.cellsLayout = cellsLayout(app, [width, roomForCells(app)]);
  const pen = canvasPen(sharpContext(parts.canvas, [width, app.cellsLayout.height]), app.theme);
  drawCells(app, pen, [0, 0]);
  if (app.point) app.element = elementAt(app, app.point); // other cells may have come under a pointer that rests
  if (app.element === null || app.element === undefined || app.element >= app.pair.order.length) return;
  const { across, cell, strip, block } = app.cellsLayout;
  const x = NAMES + (app.element % across) * cell - 1;
  const y = Math.floor(app.element / across) * block - 1;
  pen.box(x, y + 1, cell + 1, 3 * strip + 4, { stroke: app.theme.ink, width: 1.5, radius: 2 });
}

// The room that the other parts of the pane leave; on a phone the page scrolls anyway.
function roomForCells({ root, parts: { cellBox } }) {
  if (root.dataset.size === "phone") return 0;
  const pane = cellBox.parentElement;
  const others = [...pane.children].filter((part) => part !== cellBox);
  return pane.clientHeight - 24 - others.reduce((sum, part) => sum + part.offsetHeight + 8, 0);
}

function cellsLayout(app, [width, height]) {
  const size = app.payload.header.sizes[2];
  const room = width - NAMES - 2;
  const blocks = Math.max(1, Math.ceil((size * LEAST_CELL) / room));
  const across = Math.ceil(size / blocks);
  const cell = Math.min(WIDEST_CELL, Math.floor(room / across));
  const used = Math.ceil(size / across);
  const strip = Math.max(LOWEST_STRIP, Math.min(HIGHEST_STRIP, Math.floor((height / used - NUMBERS) / 3)));
  const block = 3 * strip + NUMBERS;
  return { across, cell, strip, block, blocks: used, height: used * block, width };
}

export function drawCells(app, pen, [left, top]) {
  const { pair } = app;
  const layout = app.cellsLayout;
  const { strip: high } = layout;
  const { vectors, products } = rangesOf(pair);
  const strips = [
    ["q", pair.query, vectors],
    ["k", pair.key, vectors],
    ["q × k", pair.product, products],
  ];
  const scale = scaleOf(app, "diverging");
  for (let block = 0; block < layout.blocks; block++)
    strips.forEach(([name, values, most], strip) => {
      const y = top + block * layout.block + strip * (high + 2);
      pen.text(name, left + NAMES - 8, y + high / 2, { size: 12, align: "right", colour: app.theme.muted });
      for (let col = 0; col < layout.across; col++) {
        const at = pair.order[block * layout.across + col];
        if (at === undefined) break;
        const fill = css(colourAt(scale, stepOf(values[at], -most, most)));
        pen.box(left + NAMES + col * layout.cell, y, layout.cell - 1, high, { fill });
      }
    });
  drawNumbers(app, pen, [left, top]);
}

// Element numbers below each block, as many as fit.
function drawNumbers(app, pen, [left, top]) {
  const { across, cell, strip, block } = app.cellsLayout;
  const every = Math.ceil(20 / cell);
  app.pair.order.forEach((at, place) => {
    const col = place % across;
    if (col % every) return;
    const y = top + Math.floor(place / across) * block + 3 * (strip + 2) + 8;
    pen.text(String(at), left + NAMES + (col + 0.5) * cell, y, { size: 10, align: "center", colour: app.theme.faint });
  });
}

// The largest number either way, of query and key together, and of their products.
function rangesOf({ query, key, product }) {
  const largest = (...parts) => Math.max(...parts.flatMap((part) => [...part].map(Math.abs))) || 1;
  return { vectors: largest(query, key), products: largest(product) };
}

export function rangesText(pair) {
  const { vectors, products } = rangesOf(pair);
  return `Colours, amber to indigo: q and k ±${exactText(vectors)}, products ±${exactText(products)}.`;
}

export function watchCells(app) {
  const { cellBox } = app.parts;
  cellBox.onpointermove = (event) => {
    app.point = pointIn(app.parts.canvas, event);
    lookAt(app, elementAt(app, app.point));
  };
  cellBox.onpointerleave = () => {
    app.point = null;
    lookAt(app, null);
  };
  cellBox.onblur = () => lookAt(app, null);
  cellBox.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    app.point = null;
    lookAt(app, clamp((app.element ?? -step) + step, 0, app.pair.order.length - 1));
  };
}

function lookAt(app, place) {
  if (app.element === place) return;
  app.element = place;
  paintCells(app);
  paintElement(app);
}

// Which of the ordered elements is under a point, or null.
function elementAt(app, [x, y]) {
  const { across, cell, block: high, blocks } = app.cellsLayout;
  const col = Math.floor((x - NAMES) / cell);
  const block = Math.floor(y / high);
  const place = block * across + col;
  return col < 0 || col >= across || block < 0 || block >= blocks || place >= app.pair.order.length ? null : place;
}

export function paintElement(app) {
  const { pair, element: place, parts } = app;
  if (place === null || place === undefined || place >= pair.order.length) {
    parts.element.textContent = "Point at a cell, or use ← →, to see its numbers.";
    return;
  }
  const at = pair.order[place];
  const adds = pair.product[at] * app.payload.header.scale;
  const [q, k, product, share] = [pair.query[at], pair.key[at], pair.product[at], adds].map(exactText);
  parts.element.textContent = `element ${at}: q ${q} × k ${k} = ${product}, adds ${share} to the score`;
  announce(app, parts.element.textContent);
}
