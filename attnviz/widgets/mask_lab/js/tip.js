// The cell under the pointer, in numbers.

import { element } from "../../shared/js/elements.js";
import { placeTip } from "../../shared/js/tip.js";
import { stateOf } from "./cells.js";
import { cellAt } from "./layout.js";
import { plain, sumsOf } from "./panels.js";

export function placeOf(app, event) {
  const box = app.parts.map.getBoundingClientRect();
  return cellAt(app, event.clientX - box.left, event.clientY - box.top);
}

export function showTip(app) {
  const { tip } = app.parts;
  const place = app.hover;
  tip.hidden = !place || place.row === null || place.col === null || app.stroke || app.pull;
  if (tip.hidden) return;
  tip.replaceChildren(...tipLines(app, place).map((text) => element("div", { text })));
  const area = app.parts.mapBox.getBoundingClientRect();
  placeTip(tip, [app.pointer.clientX - area.left, app.pointer.clientY - area.top], [area.width, area.height]);
}

function tipLines(app, { box, row, col }) {
  const { payload } = app;
  if (box.name === "sums") return [app.rowNames[row], `row sum ${plain(sumsOf(app)[row])}`];
  if (box.name === "context")
    return [app.rowNames[row], `context[${col}] = ${plain(payload.context[row * payload.d + col])}`];
  const i = row * payload.k + col;
  return [
    `${app.rowNames[row]}  ·  ${payload.header.cols[col]}`,
    `score ${plain(payload.scores[i])}`,
    `masked score ${plain(payload.masked[i])}`,
    `weight ${payload.attn ? plain(payload.attn[i]) : "none"}`,
    stateOf(app, i),
  ];
}
