// What is over the canvas: a cell a head, which can be pointed at, reached by arrow keys and opened.

import { ARROWS, range } from "../../shared/js/cells.js";
import { element } from "../../shared/js/elements.js";
import { change } from "../../shared/js/store.js";
import { siteName } from "../../shared/js/text.js";

export function paintCells(app) {
  const { layout } = app;
  const key = JSON.stringify([app.payload.header.shape, layout.w, layout.h, layout.left]);
  if (app.cellsKey !== key) {
    app.cellsKey = key;
    app.cells = new Map();
    const row = (layer) =>
      element("div", { role: "row" }, ...range(layout.heads).map((head) => cellNode(app, layer, head)));
    app.parts.cells.replaceChildren(...range(layout.layers).map(row));
  }
  for (const [name, node] of app.cells) {
    const isFocus = name === `${app.view.layer}.${app.view.head}`;
    node.setAttribute("aria-selected", String(isFocus));
    node.tabIndex = isFocus ? 0 : -1;
  }
}

function cellNode(app, layer, head) {
  const { x, y, w, h } = app.layout.box(layer, head);
  const place = `left:${x - 2}px;top:${y - 2}px;width:${w + 4}px;height:${h + 4}px`;
  const node = element("div", {
    role: "gridcell",
    class: "mini",
    style: place,
    title: siteName(layer, head),
    "aria-label": siteName(layer, head),
  });
  node.onclick = () => change(app, { layer, head, open: true });
  node.onkeydown = (event) => walkCells(app, event, layer, head);
  app.cells.set(`${layer}.${head}`, node);
  return node;
}

function walkCells(app, event, layer, head) {
  if (event.key === "Enter" || event.key === " ") change(app, { layer, head, open: true });
  else if (event.key in ARROWS) {
    const [down, right] = ARROWS[event.key];
    const next = app.cells.get(`${layer + down}.${head + right}`);
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  } else return;
  event.preventDefault();
}
