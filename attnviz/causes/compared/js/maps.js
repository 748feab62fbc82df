// Three maps over the same rows and columns: one run, the other, and the difference; what a run has not is hatched.

import { runsOf } from "../../../kit/js/cells.js";
import { element } from "../../../kit/js/elements.js";
import { canvasPen, sharpContext, shortened } from "../../../kit/js/pens/canvas_pen.js";
import { pointIn } from "../../../kit/js/resize.js";
import { BAND, drawBandsAbove, drawBandsBeside } from "../../../kit/js/spans/bands.js";
import { isTemplate, spansNote, spokenText } from "../../../kit/js/spans/spans.js";
import { isolated, rowName } from "../../../kit/js/text.js";
import { imageOf, scaleOf } from "../../../kit/js/theme.js";
import { hideTip, placeInWindow } from "../../../kit/js/tip.js";
import { numberLine } from "../../../kit/js/tokens/tip_lines.js";
import { mapsOf } from "./choice.js";

const [LABEL, TOP, LEAST_CELL, GAP, TITLE] = [92, 70, 13, 16, 18];
const LARGEST = 44; // pixels of a cell
const SLANT = 36; // the last column's name reaches beyond its map

export const namesOf = ({ payload }) => [...payload.header.names, "difference: second minus first"];

// A label of a row or column that both have, or that one has; where they differ, both.
export function labelOf(place, texts, say = (text) => text) {
  const [here, there] = place.map((at, side) => (at === null ? null : say(texts[side][at])));
  return here === null ? (there ?? "") : there === null || here === there ? here : `${here} | ${there}`;
}

// Where everything is in a box of that size: side by side, or below each other where there is no room.
export function layoutOf({ group, nRows, nCols, maps }, [width, height], isStacked) {
  const across = isStacked ? 1 : maps.length;
  const gap = group.in_step ? GAP : LABEL + GAP; // a map in its own order has labels of its own
  const cell = Math.min(
    LARGEST,
    (width - LABEL - SLANT - gap * across) / (nCols * across),
    (height / (isStacked ? maps.length : 1) - TOP - TITLE - 8) / nRows,
  );
  const size = Math.max(isStacked ? 3 : 1.2, cell);
  const [w, h] = [nCols * size, nRows * size];
  const at = (i) => (isStacked ? [LABEL, TITLE + TOP + i * (h + TOP + TITLE)] : [LABEL + i * (w + gap), TITLE + TOP]);
  const full = isStacked
    ? [LABEL + w + SLANT, maps.length * (h + TOP + TITLE)]
    : [LABEL + across * w + (across - 1) * gap + SLANT, TITLE + TOP + h];
  return { size, w, h, at, full };
}

export function drawMaps(app, pen, found, layout) {
  const { group, nRows, nCols, maps } = found;
  maps.forEach((map, i) => {
    const [x, y] = layout.at(i);
    const isDifference = i === 2;
    const span = isDifference ? [-1, 1] : [0, 1];
    pen.text(
      shortened(pen, namesOf(app)[i], layout.w + (i ? 0 : LABEL), { size: 11.5, weight: 600 }),
      i ? x : x - LABEL,
      y - TOP - 8,
      {
        size: 11.5,
        weight: 600,
      },
    );
    const filled = map.map((value) => (Number.isNaN(value) ? 0 : value));
    const image = imageOf(filled, [nRows, nCols], scaleOf(app, isDifference ? "diverging" : "sequential"), span);
    pen.image(image, x, y, layout.w, layout.h);
    hatchGaps(pen, map, found, [x, y, layout.size]);
    pen.box(x - 0.5, y - 0.5, layout.w + 1, layout.h + 1, { stroke: app.theme.line });
    const labels = group.in_step ? group : ownOf(group, i);
    drawCols(app, pen, labels, [x, y], layout);
    if (i === 0 || !group.in_step || layout.at(1)[0] === layout.at(0)[0]) drawRows(app, pen, labels, [x, y], layout);
  });
}

// Of one run alone, in its own order: turns are known in the common one.
function ownOf(group, side) {
  const only = (places) => places.map((place) => place.map((at, i) => (i === side ? at : null)));
  return { ...group, rows: only(group.rows), cols: only(group.cols), row_spans: null, spans: null };
}

function hatchGaps(pen, map, { nRows, nCols }, [x, y, size]) {
  const runs = runsOf((row, col) => Number.isNaN(map[row * nCols + col]), [0, nRows], [0, nCols]);
  const boxes = runs.map(([row, from, to]) => [x + from * size, y + row * size, (to - from) * size, size]);
  if (boxes.length) pen.hatch(boxes);
}

const every = (size) => Math.max(1, Math.ceil(LEAST_CELL / size));

function drawCols(app, pen, group, [x, y], { size }) {
  const { spans } = group;
  const band = spans ? BAND + 2 : 0;
  drawBandsAbove(app, pen, spans, { x, y: y - 3, w: size, window: [0, group.cols.length] });
  group.cols.forEach((place, col) => {
    if (col % every(size)) return;
    const text = shortened(pen, labelOf(place, group.col_texts), TOP - 6 - band, { size: 10.5 });
    const style = { size: 10.5, angle: -Math.PI / 3, colour: app.theme.muted, italic: isTemplate(spans, col) };
    pen.text(text, x + (col + 0.5) * size, y - band - 4, style);
  });
}

function drawRows(app, pen, group, [x, y], { size }) {
  const { row_spans: spans } = group;
  const band = spans ? BAND + 2 : 0;
  drawBandsBeside(app, pen, spans, { x: x - 3, y, h: size, window: [0, group.rows.length] });
  group.rows.forEach((place, row) => {
    if (row % every(size)) return;
    const text = shortened(pen, labelOf(place, group.row_texts, rowName), LABEL - 8 - band, { size: 10.5 });
    const style = { size: 10.5, align: "right", colour: app.theme.muted, italic: isTemplate(spans, row) };
    pen.text(text, x - band - 5, y + (row + 0.5) * size, style);
  });
}

export function paintMaps(app) {
  const found = mapsOf(app);
  const { maps: box, canvas, wait } = app.parts;
  wait.hidden = Boolean(found);
  if (!found) return; // on its way
  const isStacked = app.root.dataset.size === "phone";
  const layout = layoutOf(found, [box.clientWidth, isStacked ? 1200 : box.clientHeight - 4], isStacked);
  app.drawn = { found, layout };
  const context = sharpContext(canvas, layout.full);
  drawMaps(app, canvasPen(context, app.theme), found, layout);
  const who = spansNote(found.group.row_spans, found.group.spans);
  canvas.setAttribute("aria-label", `Maps of ${namesOf(app).join(", ")}${who && `; ${who}`}`);
}

export function watchPointer(app) {
  const { canvas, tip } = app.parts;
  canvas.onpointermove = (event) => {
    const cell = event.pointerType === "touch" ? null : cellAt(app, event);
    if (!cell) return hideTip(tip);
    tip.replaceChildren(...tipLines(app, cell));
    placeInWindow(tip, event);
  };
  canvas.onpointerleave = () => hideTip(tip);
}

function cellAt(app, event) {
  if (!app.drawn) return null;
  const { found, layout } = app.drawn;
  const [across, down] = pointIn(app.parts.canvas, event);
  for (const i of found.maps.keys()) {
    const [x, y] = layout.at(i);
    const [row, col] = [(down - y) / layout.size, (across - x) / layout.size].map(Math.floor);
    if (row >= 0 && col >= 0 && row < found.nRows && col < found.nCols) return [row, col];
  }
  return null;
}

function tipLines(app, [row, col]) {
  const { group, maps, nCols } = app.drawn.found;
  const names = namesOf(app);
  const value = (i) => maps[i][row * nCols + col];
  const said = (i) => (Number.isNaN(value(i)) ? "no such cell" : value(i).toFixed(4));
  return [
    element(
      "div",
      {},
      element("bdi", {
        text: isolated(spokenText(labelOf(group.rows[row], group.row_texts, rowName), group.row_spans, row)),
      }),
      " looks at ",
      element("bdi", { text: isolated(spokenText(labelOf(group.cols[col], group.col_texts), group.spans, col)) }),
    ),
    ...maps.map((_, i) => numberLine(i < 2 ? names[i].slice(0, 24) : "difference", said(i))),
  ];
}
