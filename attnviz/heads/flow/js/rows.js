// The rows of the last layer, one of which is followed back.

import { clamp } from "../../../kit/js/cells.js";
import { element, showWithin } from "../../../kit/js/elements.js";
import { change } from "../../../kit/js/store.js";
import { rowName } from "../../../kit/js/text.js";
import { rowEntryText } from "../../../kit/js/tokens/entries.js";

export function rowsPane(app) {
  app.parts.rows = element("div", { class: "flow-rows", role: "listbox", "aria-label": "Rows of the last layer" });
  app.parts.rows.onclick = (event) => {
    const row = event.target.closest("[data-row]");
    if (row) change(app, { row: Number(row.dataset.row) });
  };
  app.parts.rows.onkeydown = (event) => walk(app, event);
  return element(
    "section",
    { class: "pane", "aria-label": "Rows" },
    element("h2", { text: "Trace back" }),
    app.parts.rows,
    element("footer", { class: "quiet", text: "Click a row, or use the arrow keys." }),
  );
}

function walk(app, event) {
  const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const row = clamp(app.view.row + step, 0, app.rowNodes.length - 1);
  change(app, { row });
  app.rowNodes[row].focus({ preventScroll: true });
}

export function paintRows(app) {
  const { header } = app.payload;
  if (app.rowsBase !== header.base) {
    app.rowsBase = header.base;
    app.rowNodes = header.rows.map((row, at) => rowNode(header, row, at));
    app.parts.rows.replaceChildren(...app.rowNodes);
  }
  app.rowNodes.forEach((node, at) => {
    node.setAttribute("aria-selected", String(at === app.view.row));
    node.tabIndex = at === app.view.row ? 0 : -1;
  });
  showWithin(app.parts.rows, app.rowNodes[app.view.row]);
}

function rowNode(header, [input, output], at) {
  const node = element("div", { class: "flow-row", role: "option", "data-row": at, dir: "auto" });
  node.setAttribute("aria-label", rowName([input, output]));
  node.title = rowEntryText(header.row_entries[at]);
  if (output !== null)
    node.append(element("bdi", { class: "quiet", text: input }), element("span", { class: "quiet", text: " → " }));
  node.append(element("bdi", { text: output ?? input }));
  return node;
}
