// Lines of the bubble under the pointer: a row and a column by text, piece and id, and a number.

import { element } from "../elements.js";
import { spanText } from "../spans/spans.js";
import { entryText, rowEntryText } from "./entries.js";
import { isolated, rowName } from "../text.js";

export const entryLines = (text) => (text ? [element("div", { class: "tip-entry", text })] : []);

const nameLine = (name, text, place, who = "") =>
  element(
    "div",
    {},
    element("span", { class: "tip-name", text: name }),
    element("bdi", { text }),
    element("span", { class: "tip-at", text: ` #${place}` }),
    ...(who && who !== text ? [element("span", { class: "tip-span", text: ` ${who}` })] : []),
  );

// `labels` has rows, cols, row_entries and col_entries, as every map's payload; of a conversation row_spans and spans.
export const rowLines = ({ rows, row_entries: entries, row_spans: spans }, row, place = row) => [
  nameLine("query", rowName(rows[row].map((part) => part && isolated(part))), place, spanText(spans, row)),
  ...entryLines(rowEntryText(entries[row])),
];

export const colLines = ({ cols, col_entries: entries, spans }, col, place = col) => [
  nameLine("key", cols[col], place, spanText(spans, col)),
  ...entryLines(entryText(entries[col])),
];

export const numberLine = (name, text, ...more) =>
  element(
    "div",
    {},
    element("span", { class: "tip-name", text: name }),
    element("b", { class: "tip-value", text }),
    ...more,
  );
