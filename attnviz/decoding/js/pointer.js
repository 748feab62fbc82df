// Pointing at a cell names row, key and weight; a click on a row goes to its step.

import { element } from "../../kit/js/elements.js";
import { pointIn } from "../../kit/js/resize.js";
import { entryText, rowEntryText } from "../../kit/js/tokens/entries.js";
import { exactText, isolated } from "../../kit/js/text.js";
import { hideTip, placeTip } from "../../kit/js/tip.js";
import { goTo } from "./choice.js";
import { spanText } from "../../kit/js/spans/spans.js";
import { absence, cellAt, rowEntries, rowTexts } from "./layout.js";
import { mapOf } from "./payload.js";

export function watchPointer(app) {
  const { map, tip } = app.parts;
  const pointOf = (event) => pointIn(map, event);
  // A finger only presses.
  map.onpointerdown = map.onpointermove = (event) => {
    app.pointed = pointOf(event);
    refreshTip(app);
  };
  map.onpointerleave = () => {
    app.pointed = null;
    hideTip(tip);
  };
  map.onclick = (event) => {
    const found = app.boxes ? cellAt(app.boxes, pointOf(event)) : null;
    if (found?.box.kind.follows && found.row >= 0) goTo(app, found.row);
  };
}

// Also when the step, the head or the sentence under a resting pointer becomes another.
export function refreshTip(app) {
  const found = app.pointed && app.boxes ? cellAt(app.boxes, app.pointed) : null;
  const { tip, mapBox } = app.parts;
  if (!found) return hideTip(tip);
  const { kind } = found.box;
  const { row, col } = found;
  const entries = [row < 0 ? "" : rowEntry(app, kind, row), col < 0 ? "" : entryText(kind.col_entries[col])];
  const said = entries.filter(Boolean).map((text) => element("div", { class: "tip-entry", text }));
  const text = row < 0 ? `${isolated(kind.cols[col])} (${keyPlace(kind, col)})` : tipText(app, kind, row, col);
  tip.replaceChildren(element("div", { text }), ...said);
  placeTip(tip, mapBox, app.pointed);
}

// Of a row that is computed.
const rowEntry = (app, kind, row) =>
  kind.grows && row > app.view.step ? "" : rowEntryText(rowEntries(app, kind, row));

// A key's position, and who speaks there.
const keyPlace = (kind, col) => [col, spanText(kind.spans, col)].filter((part) => part !== "").join(", ");

function tipText(app, kind, row, col) {
  const who = spanText(kind.row_spans, row);
  const label = isolated(rowTexts(app, kind)[row]) + (who ? ` (${who})` : "");
  if (kind.grows && row > app.view.step) return `step ${row} is still to come`;
  if (col < 0) return label;
  const key = isolated(kind.cols[col]);
  if (kind.grows_keys && col > row) return `${label}: ${key} (${col}) does not exist yet`;
  const map = mapOf(kind, app.view.layer, app.view.head);
  if (!map) return absence(app.view, kind).join(" ");
  const from = kind.by === "pass" ? "one pass: " : "";
  return `${from}${label} looks at ${key} (${keyPlace(kind, col)}): ${exactText(map[row * kind.nCols + col])}`;
}
