// What is over the canvas: a cell a head, which can be pointed at, reached by arrow keys and opened.

import { ARROWS, cellUnder } from "../../../kit/js/cells.js";
import { element } from "../../../kit/js/elements.js";
import { magnified } from "../../../kit/js/resize.js";
import { change } from "../../../kit/js/store.js";
import { hideTip, placeInWindow } from "../../../kit/js/tip.js";
import { formOf, nameOf } from "./form.js";

const EDGE = 2; // of a cell around its head

export function paintCells(app) {
  const key = JSON.stringify([app.payload.header.base, app.layout]);
  const held = app.root.getRootNode().activeElement?.dataset?.site;
  if (app.cellsKey !== key) {
    app.cellsKey = key;
    app.cells = new Map();
    const rows = formOf(app).rows(app.layout);
    const row = (sites) => element("div", { role: "row" }, ...sites.map((site) => cellNode(app, site)));
    app.parts.cells.replaceChildren(...rows.map(row));
  }
  markFocus(app);
  app.cells.get(held)?.focus({ preventScroll: true }); // another row came while a head had the keyboard
}

function cellNode(app, [layer, head]) {
  const { x, y, w, h } = app.layout.box(layer, head);
  const node = element("div", {
    role: "gridcell",
    class: "head-cell",
    style: `left:${x - EDGE}px;top:${y - EDGE}px;width:${w + 2 * EDGE}px;height:${h + 2 * EDGE}px`,
    "data-site": `${layer}.${head}`,
    "aria-label": formOf(app).cellName(app, layer, head),
  });
  const open = () => change(app, { layer, head, open: true });
  node.onpointermove = (event) => pointAt(app, node, event, [layer, head]);
  node.onpointerleave = () => hideTip(app.parts.cellTip);
  node.onclick = open;
  node.onkeydown = (event) => {
    if (event.key === "Enter" || event.key === " ") open();
    else if (!walk(app, event, [layer, head])) return;
    event.preventDefault();
  };
  app.cells.set(`${layer}.${head}`, node);
  return node;
}

// The head, and what is under the pointer in it.
function pointAt(app, node, event, [layer, head]) {
  if (event.pointerType === "touch") return; // a finger opens
  const form = formOf(app);
  const { left, top, width, height } = node.getBoundingClientRect();
  const size = form.cells(app);
  const edge = EDGE * magnified();
  const above = size[0] === 1 ? 0 : edge; // a strip is as high as its cell
  const inner = { left: left + edge, top: top + above, width: width - 2 * edge, height: height - 2 * above };
  const [row, col] = cellUnder(inner, event, size);
  const lines = row === null ? [] : form.bubble(app, [layer, head], [row, col]);
  app.parts.cellTip.replaceChildren(element("div", {}, element("b", { text: nameOf(app, layer, head) })), ...lines);
  placeInWindow(app.parts.cellTip, event);
}

function walk(app, event, [layer, head]) {
  const step = ARROWS[event.key];
  const next = step && app.cells.get(formOf(app).next(app.layout, step, layer, head).join("."));
  if (!next) return false;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  return true;
}

// The head in focus is the one that the keyboard enters at.
function markFocus(app) {
  for (const [name, node] of app.cells) {
    const isFocus = name === `${app.view.layer}.${app.view.head}`;
    node.setAttribute("aria-selected", String(isFocus));
    node.tabIndex = isFocus ? 0 : -1;
  }
}
