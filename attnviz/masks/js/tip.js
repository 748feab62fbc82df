// The cell under the pointer, in numbers.

import { element } from "../../kit/js/elements.js";
import { pointIn } from "../../kit/js/resize.js";
import { entryText, rowEntryText } from "../../kit/js/tokens/entries.js";
import { spokenText } from "../../kit/js/spans/spans.js";
import { hideTip, placeTip } from "../../kit/js/tip.js";
import { stateOf } from "./cells.js";
import { cellAt } from "./layout.js";
import { plain, sumsOf } from "./panels.js";

export function placeOf(app, event) {
  return cellAt(app, ...pointIn(app.parts.map, event));
}

export function showTip(app) {
  const { tip } = app.parts;
  const place = app.hover;
  if (!place || app.stroke || app.pull) return hideTip(tip);
  tip.replaceChildren(...tipLines(app, place).map((text) => element("div", { text })));
  const { mapBox } = app.parts;
  placeTip(tip, mapBox, pointIn(mapBox, app.pointer));
}

function tipLines(app, { box, row, col }) {
  const { payload } = app;
  const { row_entries: rows, col_entries: cols, spans } = payload.header;
  const named = (text, entry) => [text, entry].filter(Boolean);
  const key =
    col === null || !box.keys ? [] : named(spokenText(payload.header.cols[col], spans, col), entryText(cols[col]));
  if (row === null) return key;
  const query = named(app.spokenRows[row], rowEntryText(rows[row]));
  if (col === null) return query;
  if (box.name === "sums") return [...query, `row sum ${plain(sumsOf(app)[row])}`];
  if (box.name === "context") return [...query, `context[${col}] = ${plain(payload.context[row * payload.d + col])}`];
  const i = row * payload.k + col;
  return [
    ...query,
    ...key,
    `score ${plain(payload.scores[i])}`,
    `masked score ${plain(payload.masked[i])}`,
    `weight ${payload.attn ? plain(payload.attn[i]) : "none"}`,
    stateOf(app, i),
  ];
}
