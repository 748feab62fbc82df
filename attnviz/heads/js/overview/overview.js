// Every head of a kind as a thumbnail; the one in focus is ringed. Redrawn only when what it shows has changed.

import { paintThumb } from "../../../kit/js/pens/canvas_pen.js";
import { cellUnder } from "../../../kit/js/cells.js";
import { element } from "../../../kit/js/elements.js";
import { sharpness } from "../../../kit/js/resize.js";
import { shortText, siteName } from "../../../kit/js/text.js";
import { css, mix, scaleOf } from "../../../kit/js/theme.js";
import { hideTip, placeInWindow } from "../../../kit/js/tip.js";
import { coveredText, isCovered } from "../covers.js";
import { choose, togglePin } from "../choice.js";
import { tipLines } from "../map/tip_lines.js";
import { mapOf, thumbOf } from "../maps.js";
import { maskOf } from "../payload.js";
import { drawnMeasure } from "../measures.js";
import { isOff } from "../off.js";
import { HEADER, overviewLayout } from "./layout.js";

export function paintOverview(app) {
  const { view, payload, theme } = app;
  const kind = payload.kinds.get(view.kind);
  const size = app.sizes.grid;
  const key = [payload.header.base, view.kind, view.sort, view.tint === "none", theme.key, size, sharpness()].join("|");
  if (app.overviewKey !== key) {
    app.overviewKey = key;
    hideTip(app.parts.cellTip); // another picture is under a pointer that rests
    app.layout = overviewLayout(app, kind, size);
    buildGrid(app, kind);
    for (const cell of app.cells.values()) drawThumb(app, kind, cell);
    app.tintKey = null;
  }
  paintTint(app, kind);
  paintFocusCell(app);
}

// New nodes only where the layout is another one: most kinds of a model have as many heads, and nodes cost more than
// pixels.
function buildGrid(app, kind) {
  const { parts, layout } = app;
  parts.grid.setAttribute("aria-label", `Heads of ${kind.title}, ${kind.layers} layers by ${kind.heads} heads`);
  const key = JSON.stringify(layout);
  if (app.gridKey === key) return;
  app.gridKey = key;
  app.cells = new Map();
  parts.grid.replaceChildren(...gridRows(app));
}

function gridRows(app) {
  const { rows, narrow, sorted, w, gap, turned } = app.layout;
  const headers = narrow && !sorted;
  const columns = headers
    ? `${HEADER - 2}px repeat(${rows[0].length}, ${w + 2}px)`
    : `repeat(${rows[0].length}, ${w + 2}px)`;
  app.parts.grid.style.gridTemplateColumns = columns;
  app.parts.grid.style.gap = `${gap}px`;
  const nodes = rows.map((sites) => {
    const row = element("div", { role: "row", class: "grid-row" });
    if (headers) row.append(headerNode(sites[0], !turned, "rowheader"));
    row.append(...sites.map((site) => cellNode(app, site)));
    return row;
  });
  if (headers)
    nodes.unshift(
      element(
        "div",
        { role: "row", class: "grid-row" },
        element("span", { role: "columnheader", "aria-label": turned ? "Head" : "Layer" }),
        ...rows[0].map((site) => headerNode(site, turned, "columnheader")),
      ),
    );
  return nodes;
}

function headerNode([layer, head], ofLayer, role) {
  const value = ofLayer ? layer : head;
  return element("span", {
    class: "grid-header",
    role,
    text: value === "mean" ? "mean" : `${ofLayer ? "L" : "H"}${value}`,
  });
}

function cellNode(app, [layer, head]) {
  const { w, h, caption, narrow, sorted } = app.layout;
  const canvas = element("canvas", { "aria-hidden": "true", style: `width:${w}px;height:${h}px` });
  const name = element("span", { class: "cell-name", text: shortSite(layer, head) });
  const value = element("span", { class: "cell-value" });
  const foot = element(
    "span",
    { class: "cell-foot", style: `height:${caption}px`, hidden: !caption },
    ...(narrow && !sorted ? [value] : [name, value]),
  );
  const node = element(
    "div",
    { class: "cell", role: "gridcell", tabindex: "-1", style: `width:${w + 2}px` },
    canvas,
    foot,
  );
  if (layer === "mean" || head === "mean") node.classList.add("mean");
  if (narrow) node.classList.add("narrow");
  node.onpointermove = (event) => pointAtThumb(app, app.cells.get(`${layer}/${head}`), event);
  node.onpointerleave = () => hideTip(app.parts.cellTip);
  node.onclick = () => choose(app, { layer, head });
  node.ondblclick = () => togglePin(app, [app.view.kind, layer, head]);
  app.cells.set(`${layer}/${head}`, { node, canvas, value, foot, layer, head });
  return node;
}

// The head, its numbers, and the cell of its map that is under the pointer.
function pointAtThumb(app, { canvas, layer, head, said }, event) {
  const tip = app.parts.cellTip;
  if (event.pointerType === "touch") return; // a finger chooses
  const kind = app.payload.kinds.get(app.view.kind);
  const [row, col] = cellUnder(canvas.getBoundingClientRect(), event, [kind.nRows, kind.nCols]);
  const drawn = {
    kind,
    layer,
    head,
    map: mapOf(app, kind.kind, layer, head),
    mask: maskOf(kind, layer, head),
    signed: false,
  };
  const lines = row === null ? [] : tipLines(drawn, row, col, drawnMeasure(app).name);
  tip.replaceChildren(element("div", {}, element("b", { text: said })), ...lines);
  placeInWindow(tip, event);
}

function shortSite(layer, head) {
  if (layer === "mean" && head === "mean") return "mean";
  if (layer === "mean") return `H${head} mean`;
  return head === "mean" ? `L${layer} mean` : `L${layer} H${head}`;
}

function drawThumb(app, kind, { canvas, layer, head }) {
  const { w, h } = app.layout;
  paintThumb(canvas, thumbOf(kind, layer, head), [kind.thumbHeight, kind.thumbWidth], {
    size: [h, w],
    scale: scaleOf(app, "sequential"),
  });
  canvas.classList.toggle("covered", isCovered(kind, layer, head));
}

function paintTint(app, kind) {
  const { tint, sort } = app.view;
  const key = `${app.overviewKey}|${tint}|${app.view.off}`;
  if (app.tintKey === key) return;
  app.tintKey = key;
  // The measure that sorts the heads is printed: another number would look unsorted.
  const printed = measureOf(app, kind, sort !== "layout" ? sort : tint);
  const tinted = measureOf(app, kind, tint);
  for (const cell of app.cells.values()) {
    cell.value.textContent = app.layout.dense ? "" : printedText(app, printed?.of(cell));
    const part = tinted?.part(cell) ?? null;
    const tone = part === null ? "" : css(mix(app.theme.accentRGB, app.theme.paperRGB, 0.04 + 0.5 * part));
    cell.foot.style.background = tone;
    const off = isOff(app, kind.kind, cell.layer, cell.head);
    cell.node.classList.toggle("off", off);
    const name = `${siteName(cell.layer, cell.head)}${off ? ", off" : ""}`;
    const told = isCovered(kind, cell.layer, cell.head) ? [coveredText(kind)] : measuredTexts(cell, printed, tinted);
    cell.node.setAttribute("aria-label", (cell.said = [name, ...told].join(", ")));
  }
  app.parts.summary.textContent = app.parts.summary.title = summaryText(app, kind, { printed, tinted });
}

// A metric's numbers for a kind's heads; null for none, and for what is no metric ("layout", "none").
function measureOf(app, kind, metric) {
  const values = app.payload.header.metrics.values[kind.kind]?.[metric];
  if (!values) return null;
  const [low, high] = extent(values);
  const of = ({ layer, head }) => (layer === "mean" || head === "mean" ? undefined : values[layer * kind.heads + head]);
  const share = (number) => (Number.isFinite(number) && high > low ? (number - low) / (high - low) : null);
  return { name: metricName(app, metric), low, high, of, part: (cell) => share(of(cell)) };
}

function measuredTexts(cell, printed, tinted) {
  const measures = printed?.name === tinted?.name ? [printed] : [printed, tinted];
  return measures
    .filter((measure) => measure?.of(cell) !== undefined)
    .map((measure) => `${measure.name} ${shortText(measure.of(cell))}`);
}

function printedText(app, number) {
  if (number === undefined) return "";
  return app.layout.w < 26 ? shortText(number).replace(/^(−?)0\./, "$1.") : shortText(number);
}

function extent(values) {
  const numbers = (values ?? []).filter(Number.isFinite);
  return numbers.length ? [Math.min(...numbers), Math.max(...numbers)] : [NaN, NaN];
}

function metricName(app, metric) {
  const [, unit] = app.payload.header.metrics.names.find(([name]) => name === metric) ?? [metric, ""];
  const label = metricLabel(metric);
  return unit ? `${label} (${unit})` : label;
}

export const metricLabel = (metric) => metric.replaceAll("_", " ").replace("eos ", "<eos> ");

function summaryText(app, kind, { printed, tinted }) {
  const count = (number, word) => `${number} ${number === 1 ? word : `${word}s`}`;
  const counts = `${count(kind.layers, "layer")} × ${count(kind.heads, "head")}`;
  const spanned = ({ name, low, high }) =>
    Number.isNaN(low) ? `${name}: none for this kind` : `${name}, ${shortText(low)} to ${shortText(high)}`;
  const isSorted = app.view.sort !== "layout" && printed;
  if (printed && printed.name === tinted?.name)
    return `${counts} · number${isSorted ? ", order" : ""} and tint: ${spanned(printed)}`;
  const parts = [counts];
  if (printed) parts.push(`number${isSorted ? " and order" : ""}: ${spanned(printed)}`);
  if (tinted) parts.push(`tint: ${spanned(tinted)}`);
  return parts.join(" · ");
}

function paintFocusCell(app) {
  const { view, cells } = app;
  const now = cells.get(`${view.layer}/${view.head}`);
  if (app.focusCell && app.focusCell !== now) {
    app.focusCell.node.tabIndex = -1;
    app.focusCell.node.removeAttribute("aria-selected");
  }
  app.focusCell = now ?? null;
  app.parts.grid.tabIndex = now ? -1 : 0;
  now?.node.setAttribute("aria-selected", "true");
  if (now) now.node.tabIndex = 0;
  const pins = view.pins
    .filter(([kind]) => kind === view.kind)
    .map(([, layer, head]) => `${layer}/${head}`)
    .join();
  if (app.pinKey === `${app.overviewKey}|${pins}`) return;
  app.pinKey = `${app.overviewKey}|${pins}`;
  for (const [site, { node }] of cells) node.classList.toggle("pinned", pins.split(",").includes(site));
}
