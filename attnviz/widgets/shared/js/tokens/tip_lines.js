// Lines of the bubble under the pointer: a row and a column by text, piece and id, and a number.

import { element } from "../elements.js";
import { entryText, rowEntryText } from "./entries.js";
import { isolated, rowName } from "../text.js";

export const entryLines = (text) => (text ? [element("div", { class: "tip-entry", text })] : []);

const nameLine = (name, text, place) =>
  element(
    "div",
    {},
    element("span", { class: "tip-name", text: name }),
    element("bdi", { text }),
    element("span", { class: "tip-at", text: ` #${place}` }),
  );

// `labels` has rows, cols, row_entries and col_entries, as every map's payload.
export const rowLines = ({ rows, row_entries: entries }, row, place = row) => [
  nameLine("query", rowName(rows[row].map((part) => part && isolated(part))), place),
  ...entryLines(rowEntryText(entries[row])),
];

export const colLines = ({ cols, col_entries: entries }, col, place = col) => [
  nameLine("key", cols[col], place),
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
