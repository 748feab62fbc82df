// Cells under the pointer and the keyboard: a click patches one or undoes it, a drag patches several.

import { toggleHelp } from "../../../kit/js/base/help.js";
import { ARROWS, clamp } from "../../../kit/js/cells.js";
import { element } from "../../../kit/js/elements.js";
import { announce } from "../../../kit/js/live_region.js";
import { exactText, isolated, shortText } from "../../../kit/js/text.js";
import { hideTip, placeInWindow } from "../../../kit/js/tip.js";
import { entryText } from "../../../kit/js/tokens/entries.js";
import { entryLines, numberLine } from "../../../kit/js/tokens/tip_lines.js";
import { spokenText } from "../../../kit/js/spans/spans.js";
import { add, nameOf, nextStep, toggle, undo } from "./choice.js";
import { cellAt } from "./layout.js";
import { MEASURED, SAID, numbersOf, rowName } from "./numbers.js";

export function watchMatrices(app, repaint) {
  const { box, canvas } = app.parts;
  const under = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return app.layout && cellAt(app.layout, [event.clientX - left, event.clientY - top]);
  };
  canvas.onpointerdown = (event) => {
    const found = under(event);
    if (!found || event.button || !isMeasured(app, found) || app.lacks.has("put")) return;
    app.dragged = new Set([nameAt(app, found)]);
    if (event.pointerType === "mouse") canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = (event) => {
    const found = under(event);
    point(app, event, found);
    if (!app.dragged || !found || !isMeasured(app, found) || event.pointerType !== "mouse") return;
    const before = app.dragged.size;
    app.dragged.add(nameAt(app, found));
    if (app.dragged.size !== before) repaint();
  };
  canvas.onpointerup = () => {
    const names = [...(app.dragged ?? [])];
    app.dragged = null;
    if (names.length === 1) toggle(app, names[0]);
    else if (names.length) add(app, names);
  };
  canvas.onpointercancel = () => (app.dragged = null); // the finger scrolls
  canvas.onpointerleave = () => hideTip(app.parts.tip);
  box.onblur = () => {
    app.cursor = null;
    repaint();
  };
}

const matrixOf = (app, [block]) => app.payload.header.matrices[block.at];
const nameAt = (app, found) => nameOf(matrixOf(app, found), found[1], found[2]);
const stateAt = (app, [block, row, col]) => numbersOf(app, block.at).state[row * block.cols + col];
const isMeasured = (app, found) => stateAt(app, found) === MEASURED;

// The action of a key (kit/js/base/keys.js), or null.
export function actionOf(app, event, repaint) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key in ARROWS) return app.layout ? () => walk(app, ARROWS[key], repaint) : null;
  const isOverCell = app.cursor && isMeasured(app, app.cursor);
  const actions = {
    u: () => undo(app),
    n: () => nextStep(app),
    "?": () => toggleHelp(app),
    Escape: app.parts.help.hidden ? null : () => toggleHelp(app),
    Enter: isOverCell ? () => toggle(app, nameAt(app, app.cursor)) : null,
    " ": isOverCell ? () => toggle(app, nameAt(app, app.cursor)) : null,
  };
  return actions[key] ?? null;
}

// Over a matrix's edge to the next one of the same column.
function walk(app, [down, right], repaint) {
  const shares = app.layout.blocks.filter(({ name }) => name === "share");
  if (!shares.length) return;
  let [block, row, col] = app.cursor ?? [shares[0], 0, 0];
  if (app.cursor) [row, col] = [row + down, clamp(col + right, 0, block.cols - 1)];
  const at = shares.indexOf(block) + (row < 0 ? -1 : row >= block.rows ? 1 : 0);
  if (shares[at] && shares[at] !== block) {
    block = shares[at];
    row = down < 0 ? block.rows - 1 : 0;
  }
  app.cursor = [block, clamp(row, 0, block.rows - 1), clamp(col, 0, block.cols - 1)];
  announce(app, saidOf(app, app.cursor));
  repaint();
}

function saidOf(app, found) {
  const [block, row, col] = found;
  const matrix = matrixOf(app, found);
  const at = row * block.cols + col;
  const numbers = numbersOf(app, block.at);
  const place = `${matrix.title}, ${rowName(matrix, row)} ${spokenText(matrix.cols[col], matrix.spans, col)}`;
  if (numbers.state[at] !== MEASURED) return `${place}: ${SAID[numbers.state[at]]}`;
  return `${place}: restored ${shortText(numbers.share[at])}, control ${shortText(numbers.moved[at])}`;
}

function point(app, event, found) {
  const { tip } = app.parts;
  if (!found) {
    hideTip(tip);
    return;
  }
  const [block, row, col] = found;
  const matrix = matrixOf(app, found);
  const numbers = numbersOf(app, block.at);
  const at = row * block.cols + col;
  const isIn = app.view.put.includes(nameAt(app, found));
  const lines = [
    element(
      "div",
      {},
      element("b", {
        text: `${matrix.where} ${rowName(matrix, row)} ${isolated(spokenText(matrix.cols[col], matrix.spans, col))}`,
      }),
    ),
    ...entryLines(entryText(matrix.col_entries[col])),
  ];
  if (numbers.state[at] !== MEASURED) lines.push(element("div", { class: "tip-at", text: SAID[numbers.state[at]] }));
  else
    lines.push(
      numberLine("restored", exactText(numbers.share[at])),
      numberLine("control", exactText(numbers.moved[at])),
      numberLine("metric", exactText(numbers.patched[at])),
      element("div", {
        class: "tip-at",
        "data-control": "put",
        text: isIn ? "patched: click to undo" : "click to patch it",
      }),
    );
  tip.replaceChildren(...lines);
  placeInWindow(tip, event);
}
