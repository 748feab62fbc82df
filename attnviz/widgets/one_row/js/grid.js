// What is over the canvas: a cell a strip, which can be pointed at, reached by arrow keys and opened.

import { ARROWS, cellUnder, range } from "../../shared/js/cells.js";
import { element } from "../../shared/js/elements.js";
import { magnified } from "../../shared/js/resize.js";
import { change } from "../../shared/js/store.js";
import { exactText, siteName } from "../../shared/js/text.js";
import { placeInWindow } from "../../shared/js/tip.js";
import { colLines, numberLine, rowLines } from "../../shared/js/tokens/tip_lines.js";
import { isOff, strongest, weightsOf } from "./strips.js";

const EDGE = 2; // of a cell around its strip

export function paintCells(app) {
  const { layout, payload } = app;
  const key = JSON.stringify([payload.header.base, layout.width, layout.height]);
  const held = app.root.getRootNode().activeElement?.dataset?.site;
  if (app.cellsKey !== key) {
    app.cellsKey = key;
    app.cells = new Map();
    const sites = range(layout.layers).flatMap((layer) => range(layout.heads).map((head) => [layer, head]));
    app.parts.cells.replaceChildren(...sites.map((site) => element("div", { role: "row" }, cellNode(app, ...site))));
  }
  for (const [name, node] of app.cells) {
    const isFocus = name === `${app.view.layer}.${app.view.head}`;
    node.setAttribute("aria-selected", String(isFocus));
    node.tabIndex = isFocus ? 0 : -1;
  }
  app.cells.get(held)?.focus({ preventScroll: true }); // another row came while a strip had the keyboard
}

function cellNode(app, layer, head) {
  const { x, y, w, h } = app.layout.box(layer, head);
  const place = `left:${x - EDGE}px;top:${y - EDGE}px;width:${w + 2 * EDGE}px;height:${h + 2 * EDGE}px`;
  const node = element("div", {
    role: "gridcell",
    class: "strip-cell",
    style: place,
    "data-site": `${layer}.${head}`,
    "aria-label": nameOf(app, layer, head),
  });
  node.onpointermove = (event) => pointAt(app, node, event, [layer, head]);
  node.onpointerleave = () => (app.parts.cellTip.hidden = true);
  node.onclick = () => change(app, { layer, head, open: true });
  node.onkeydown = (event) => walk(app, event, layer, head);
  app.cells.set(`${layer}.${head}`, node);
  return node;
}

function nameOf(app, layer, head) {
  const weights = weightsOf(app, layer, head);
  const top = strongest(weights);
  const off = isOff(app, layer, head) ? ", off" : "";
  return `${siteName(layer, head)}${off}, most on ${app.payload.header.cols[top]}: ${exactText(weights[top])}`;
}

function pointAt(app, node, event, [layer, head]) {
  if (event.pointerType === "touch") return; // a finger opens
  const { header } = app.payload;
  const { left, top, width, height } = node.getBoundingClientRect();
  const edge = EDGE * magnified();
  const inner = { left: left + edge, top, width: width - 2 * edge, height };
  const [, key] = cellUnder(inner, event, [1, header.shape[2]]);
  const off = isOff(app, layer, head) ? ", off" : "";
  const lines =
    key === null
      ? []
      : [
          ...rowLines(header, header.row),
          ...colLines(header, key),
          numberLine("weight", exactText(weightsOf(app, layer, head)[key])),
        ];
  const name = element("div", {}, element("b", { text: `${siteName(layer, head)}${off}` }));
  app.parts.cellTip.replaceChildren(name, ...lines);
  placeInWindow(app.parts.cellTip, event);
}

function walk(app, event, layer, head) {
  if (event.key === "Enter" || event.key === " ") change(app, { layer, head, open: true });
  else if (event.key in ARROWS) {
    const [down, right] = ARROWS[event.key];
    const { heads } = app.layout;
    const at = layer * heads + head + down + right * heads; // sideways: the same head of the next layer
    const next = app.cells.get(`${Math.floor(at / heads)}.${((at % heads) + heads) % heads}`);
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  } else return;
  event.preventDefault();
}
