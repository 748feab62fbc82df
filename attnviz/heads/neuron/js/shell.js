// The component's fixed parts, and how all of it is painted.

import { kindTabs, paintKindTabs } from "../../../kit/js/base/kind_tabs.js";
import { pane } from "../../../kit/js/base/pane.js";
import { choices, exportTools, paintChoices } from "../../../kit/js/base/parts.js";
import { termNode } from "../../../kit/js/definitions.js";
import { element } from "../../../kit/js/elements.js";
import { entryText, rowEntryText } from "../../../kit/js/tokens/entries.js";
import { fillSelect, numbered, select } from "../../../kit/js/lists.js";
import { tellPainted } from "../../../kit/js/resize.js";
import { change } from "../../../kit/js/store.js";
import { exactText, isolated, rowName, siteName } from "../../../kit/js/text.js";
import { paintCells, paintElement, rangesText, watchCells } from "./cells.js";
import { pairOf } from "./dot_product.js";
import { paintLists } from "./lists.js";
import { paintSteps, stepsOf } from "./steps.js";

const WHY =
  "How this weight is computed: multiply each number of the query by the same number of the key, add up, scale, and " +
  "apply softmax over all keys that the query may see.";

export function buildShell(app) {
  app.root.replaceChildren(
    listPane(app, "queries", ["Query"]),
    pairPane(app),
    listPane(app, "keys", ["Key", "Score", "Weight"]),
  );
  watchCells(app);
}

function listPane(app, name, terms) {
  const title = terms.join(", ");
  const heading = element("h2", {}, ...terms.flatMap((term, i) => (i ? [" · ", termNode(term)] : [termNode(term)])));
  app.parts[name] = element("ol", { class: "options", role: "listbox", "aria-label": title });
  return element("section", { class: `pane ${name}-pane`, "aria-label": title }, heading, app.parts[name]);
}

function pairPane(app) {
  const { parts } = app;
  parts.title = element("h2");
  parts.layer = select("Layer", { control: "layer", onchoose: (layer) => change(app, { layer: Number(layer) }) });
  parts.head = select("Head", { control: "head", onchoose: (head) => change(app, { head: Number(head) }) });
  const order = choices(app, "order");
  parts.entries = element("p", { class: "quiet" });
  parts.why = element("p", { class: "quiet", text: WHY });
  parts.canvas = element("canvas", { role: "img" });
  parts.cellBox = element(
    "div",
    { class: "cell-box", tabindex: "0", role: "group", "aria-label": "Elements of query, key and product" },
    parts.canvas,
  );
  parts.element = element("p", { class: "quiet" });
  parts.ranges = element("p", { class: "quiet" });
  parts.steps = element("dl", { class: "steps" });
  const tools = [parts.layer.node, parts.head.node, order, exportTools(app)];
  return pane(
    { label: "Query times key", head: [kindTabs(app)], tools },
    parts.title,
    parts.entries,
    parts.why,
    parts.cellBox,
    parts.element,
    parts.ranges,
    parts.steps,
  );
}

export function pairTitle(app) {
  const { header } = app.payload;
  const names = [rowName(header.rows[app.view.row]), header.cols[app.view.key]].map(isolated);
  return `${header.title}, ${siteName(header.layer, header.head)}: query ${names[0]}, key ${names[1]}`;
}

function entriesText({ payload: { header }, view }) {
  const query = rowEntryText(header.row_entries[view.row]);
  return query && `query: ${query} · key: ${entryText(header.col_entries[view.key])}`;
}

export function paint(app, began) {
  const { parts } = app;
  const { header } = app.payload;
  app.pair = pairOf(app);
  paintKindTabs(app, header.kinds);
  paintChoices(app);
  fillSelect(parts.layer, numbered(header.layers_heads[0], "L"), String(app.view.layer));
  fillSelect(parts.head, numbered(header.layers_heads[1], "H"), String(app.view.head));
  parts.title.textContent = pairTitle(app);
  parts.entries.textContent = entriesText(app);
  paintLists(app);
  paintElement(app);
  paintSteps(app);
  parts.ranges.textContent = rangesText(app.pair);
  paintCells(app); // last, for it takes the room that is left
  const said = stepsOf(app).map(([, title, , value]) => `${title} ${exactText(value)}`);
  parts.canvas.setAttribute("aria-label", `${pairTitle(app)}: ${said.join(", ")}`);
  tellPainted(app, began);
}
