// Every head's map of a run as it is now, as the overview draws them: a click opens one large, in every run.

import { paintThumb } from "../../../kit/js/pens/canvas_pen.js";
import { cellUnder, range } from "../../../kit/js/cells.js";
import { termNode } from "../../../kit/js/definitions.js";
import { element } from "../../../kit/js/elements.js";
import { siteName } from "../../../kit/js/text.js";
import { scaleOf } from "../../../kit/js/theme.js";
import { hideTip, placeInWindow } from "../../../kit/js/tip.js";
import { colLines, numberLine, rowLines } from "../../../kit/js/tokens/tip_lines.js";
import { boxOf } from "./boxes.js";
import { openSite } from "./choice.js";
import { isImages, paintOnImage } from "./images.js";
import { mapOf, strongest } from "./runs.js";

const GAP = 8;
const NAME = 16; // pixels over a map
const SCORE = 29; // and below it
const SCORED_ONCE = 15; // where no level says when a head has found what it looks for
const WIDEST = 210;
const NARROWEST = 112; // of a column: a score and its name
const LEGIBLE = 92; // below it a score is cut
const NAMED = 60; // and below this, a name

// Rows of sites: kinds and layers one way, heads the other, or all in a row, whichever leaves the largest maps.
// `below` are the pixels that a head's score takes, where it has one.
export function gridOf(kinds, [width, height], below = SCORE) {
  const lanes = kinds.flatMap((kind) => range(kind.layers).map((layer) => [kind, layer]));
  const heads = Math.max(...kinds.map((kind) => kind.heads));
  const site = ([kind, layer], head) => (head < kind.heads ? [kind, layer, head] : null);
  const flat = lanes.map((lane) => range(heads).map((head) => site(lane, head)));
  const upright = range(heads).map((head) => lanes.map((lane) => site(lane, head)));
  const ways = [upright, flat, [flat.flat().filter(Boolean)]].map((rows) => {
    const room = height / rows.length - GAP - NAME - below - 2;
    const across = width / rows[0].length - GAP;
    const side = Math.min(WIDEST, across, room);
    return { rows, side, worth: across < LEGIBLE ? side / 2 : side };
  });
  return ways.reduce((best, way) => (way.worth > best.worth ? way : best));
}

// Pixels of a map in its place.
export function sizeOf({ nRows, nCols }, side) {
  const cell = Math.max(1, side) / Math.max(nRows, nCols);
  return [Math.max(4, Math.round(cell * nRows)), Math.max(4, Math.round(cell * nCols))];
}

// Over a map that is too narrow for its name stands C2.5 for cross-attention, L2 H5.
export const shortName = ({ tab, layers }, layer, head, side = WIDEST) =>
  side < NAMED ? `${tab[0]}${layer}.${head}` : `${tab} ${layers > 1 ? `L${layer} ` : ""}H${head}`;

export function paintGrid(app, pane) {
  const { parts, drawn } = pane;
  const [width, room] = boxOf(parts.grid);
  const box = [width, app.isPhone ? 700 : room];
  const isScored = pane.run.about.scores.length > 0;
  parts.grid.dataset.scored = isImages(pane.run) ? "once" : String(isScored);
  const grid = gridOf(drawn.kinds, box, isImages(pane.run) ? SCORED_ONCE : isScored ? SCORE : 0);
  const key = JSON.stringify([drawn.kinds.map(({ kind, shape }) => [kind, shape]), Math.round(grid.side)]);
  if (pane.gridKey !== key) {
    pane.gridKey = key;
    buildGrid(app, pane, grid, width);
  }
  for (const cell of pane.cells) paintCell(app, pane, cell);
}

// As wide as a map, or as its score where that fits.
const columnOf = (width, side, over) => Math.max(side, Math.min(NARROWEST, width / over - GAP));

function buildGrid(app, pane, { side, rows }, width) {
  pane.cells = [];
  const { grid } = pane.parts;
  grid.style.gridTemplateColumns = `repeat(${rows[0].length}, ${Math.round(columnOf(width, side, rows[0].length))}px)`;
  const cellOf = (site) => (site ? cellNode(app, pane, site, side) : element("span"));
  grid.replaceChildren(...rows.flatMap((row) => row.map(cellOf)));
}

function cellNode(app, pane, [kind, layer, head], side) {
  const size = sizeOf(kind, side);
  const name = `${kind.title}, ${siteName(layer, head)}`;
  const canvas = element("canvas", { "aria-hidden": "true", style: `width:${size[1]}px;height:${size[0]}px` });
  const open = element("button", { type: "button", class: "thumb", "aria-label": `${name}: open it large` }, canvas);
  const score = element("span", { class: "score" });
  const node = element(
    "div",
    { class: "head" },
    element("span", { class: "head-name", text: shortName(kind, layer, head, side), title: name }),
    open,
    score,
  );
  const cell = { node, open, canvas, score, size, site: [kind.kind, layer, head] };
  open.onclick = () => {
    openSite(app, cell.site);
    pane.parts.back.focus({ preventScroll: true }); // the grid is gone, and the keys with it
  };
  open.onpointermove = (event) => pointAt(app, pane, cell, event);
  open.onpointerleave = () => hideTip(app.parts.cellTip);
  pane.cells.push(cell);
  return node;
}

function paintCell(app, pane, { canvas, score, size, site }) {
  const [name, layer, head] = site;
  const kind = pane.drawn.kinds.find((one) => one.kind === name);
  const cells = mapOf(kind, pane.drawn.maps, layer, head);
  if (isImages(pane.run)) paintOnImage(app, pane.run, canvas, { cells, size });
  else paintThumb(canvas, cells, [kind.nRows, kind.nCols], { size, scale: scaleOf(app, "sequential") });
  paintScore(pane, score, site);
}

// Its score, and when it passed a half. Of a line of one's own nothing is scored.
function paintScore(pane, node, site) {
  const found = pane.drawn.isOwn ? null : strongest(pane.run, site, pane.at);
  const key = found ? `${found.name} ${found.value.toFixed(2)} ${found.passed}` : "";
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  if (!found) return node.replaceChildren();
  const passed =
    found.passed === null || isImages(pane.run) ? "" : `above ½ from update ${found.passed.toLocaleString("en")}`;
  node.replaceChildren(termNode(found.name), ` ${found.value.toFixed(2)}`, element("b", { text: passed }));
}

function pointAt(app, pane, { canvas, site }, event) {
  const tip = app.parts.cellTip;
  if (event.pointerType === "touch") return;
  const [name, layer, head] = site;
  const kind = pane.drawn.kinds.find((one) => one.kind === name);
  const [row, col] = isImages(pane.run)
    ? clsAndPatch(pane.run, canvas, event)
    : cellUnder(canvas.getBoundingClientRect(), event, [kind.nRows, kind.nCols]);
  tip.replaceChildren(...tipLines(pane, [kind, layer, head], [row, col]));
  placeInWindow(tip, event);
}

// The row of [CLS], and the column of the patch under the pointer.
function clsAndPatch(run, canvas, event) {
  const [row, column] = cellUnder(canvas.getBoundingClientRect(), event, run.about.image.grid);
  return row === null ? [null, null] : [0, 1 + row * run.about.image.grid[1] + column];
}

export function tipLines({ drawn }, [kind, layer, head], [row, col]) {
  const title = element("div", {}, element("b", { text: `${kind.title}, ${siteName(layer, head)}` }));
  if (row === null || col === null) return [title];
  const value = mapOf(kind, drawn.maps, layer, head)[row * kind.nCols + col] / 255;
  return [title, ...rowLines(kind, row), ...colLines(kind, col), numberLine("weight", `≈ ${value.toFixed(2)} (8-bit)`)];
}
