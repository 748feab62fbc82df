// What is over the canvas: a cell a strip, which can be pointed at, reached by arrow keys and opened.

import { headCell, markFocus } from "../../base/js/head_cells.js";
import { ARROWS, cellUnder, range } from "../../shared/js/cells.js";
import { element } from "../../shared/js/elements.js";
import { magnified } from "../../shared/js/resize.js";
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
  markFocus(app);
  app.cells.get(held)?.focus({ preventScroll: true }); // another row came while a strip had the keyboard
}

function cellNode(app, layer, head) {
  const { x, y, w, h } = app.layout.box(layer, head);
  const node = headCell(app, [layer, head], {
    box: [x - EDGE, y - EDGE, w + 2 * EDGE, h + 2 * EDGE],
    className: "strip-cell",
    name: nameOf(app, layer, head),
    pointAt: (event) => pointAt(app, node, event, [layer, head]),
    next: (key) => nextCell(app, key, layer, head),
  });
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

// Sideways: the same head of the next layer.
function nextCell(app, key, layer, head) {
  if (!(key in ARROWS)) return null;
  const [down, right] = ARROWS[key];
  const { heads } = app.layout;
  const at = layer * heads + head + down + right * heads;
  return app.cells.get(`${Math.floor(at / heads)}.${((at % heads) + heads) % heads}`);
}
