// The component's fixed parts, and how all of it is painted.

import { kindTabs, paintKindTabs } from "../../../kit/js/base/kind_tabs.js";
import { pane, picturePane } from "../../../kit/js/base/pane.js";
import { choices, paintChoices } from "../../../kit/js/base/parts.js";
import { range } from "../../../kit/js/cells.js";
import { termNode } from "../../../kit/js/definitions.js";
import { button, element } from "../../../kit/js/elements.js";
import { tellPainted } from "../../../kit/js/resize.js";
import { change } from "../../../kit/js/store.js";
import { siteName } from "../../../kit/js/text.js";
import { paintColumns, watchTokens } from "./columns.js";
import { paintActive } from "./hover.js";
import { hueOf, readLines } from "./lines.js";
import { paintSquares, toggleHead } from "./squares.js";

export function buildShell(app) {
  app.root.replaceChildren(squaresPane(app), linesPane(app), listPane(app));
  watchTokens(app);
}

function squaresPane(app) {
  const { parts } = app;
  parts.squares = element("div", { class: "squares", role: "group", "aria-label": "Heads" });
  const none = button("None", {
    class: "link",
    title: "Deselect all heads",
    onclick: () => change(app, { heads: [] }),
  });
  const all = button("All", {
    class: "link",
    title: "Every head of every layer",
    onclick: () => change(app, { heads: allHeads(app) }),
  });
  return pane(
    { label: "Heads", head: [element("h2", {}, termNode("Heads", "Every head"))], tools: [all, none] },
    kindTabs(app),
    element("div", { class: "squares-box" }, parts.squares),
    element("footer", { class: "quiet", text: "Click squares to choose heads; click L0 for a whole layer." }),
  );
}

function allHeads(app) {
  const [layers, heads] = app.payload.header.shape;
  return range(layers).flatMap((layer) => range(heads).map((head) => [layer, head]));
}

function linesPane(app) {
  const { parts } = app;
  parts.chips = element("div", { class: "tools chips" });
  parts.queries = element("div", { class: "column queries", role: "listbox", "aria-label": "Query tokens" });
  parts.keys = element("div", { class: "column keys", role: "listbox", "aria-label": "Key tokens" });
  parts.canvas = element("canvas", {
    role: "img",
    "aria-label": "Lines from each query token to the keys that it looks at",
  });
  parts.middle = element("div", { class: "middle" }, parts.canvas);
  parts.inner = element("div", { class: "links-inner" }, parts.queries, parts.middle, parts.keys);
  parts.body = element("div", { class: "links-body" }, parts.inner);
  parts.note = element("footer", { class: "quiet" });
  const opacity = choices(app, "scale");
  const rows = choices(app, "rows");
  return picturePane(
    app,
    { label: "Token links", tools: [opacity, rows] },
    parts.chips,
    element("div", { class: "ends quiet" }, (parts.queryName = element("span")), (parts.keyName = element("span"))),
    parts.body,
    parts.note,
  );
}

function listPane(app) {
  const { parts } = app;
  parts.listTitle = element("h2", { class: "list-title" });
  parts.list = element("ol", { class: "link-list", tabindex: "0", "aria-label": "Largest weights of the token" });
  const hint = "Point at a token, or use the arrow keys, to see only its lines. Click to keep it.";
  parts.listHint = element("p", { class: "quiet", text: hint });
  parts.listEntry = element("p", { class: "quiet" });
  return element(
    "aside",
    { class: "pane", "aria-label": "The token's links" },
    parts.listTitle,
    parts.listEntry,
    parts.listHint,
    parts.list,
  );
}

export function paint(app, began) {
  const { header } = app.payload;
  readLines(app);
  paintKindTabs(app, header.kinds);
  paintChoices(app);
  paintSquares(app);
  const { heads } = app.view;
  app.parts.title.textContent = `${header.title}, ${heads.length === 1 ? siteName(...heads[0]) : `${heads.length} heads`}`;
  app.parts.question.textContent = header.question;
  app.parts.queryName.textContent = `query: ${header.query_name}`;
  app.parts.keyName.textContent = `key: ${header.key_name}`;
  paintChips(app);
  paintColumns(app);
  paintActive(app);
  tellPainted(app, began);
}

function paintChips(app) {
  const key = `${app.theme.name}${JSON.stringify(app.view.heads)}`;
  if (app.chipsKey === key) return;
  app.chipsKey = key;
  const chip = ([layer, head], place) =>
    button(siteName(layer, head), {
      class: "chip",
      title: "Deselect this head",
      style: `--hue:${hueOf(app, place)}`,
      onclick: () => toggleHead(app, layer, head),
    });
  app.parts.chips.replaceChildren(...app.view.heads.slice(0, 16).map(chip));
  if (app.view.heads.length > 16)
    app.parts.chips.append(element("span", { class: "quiet", text: `and ${app.view.heads.length - 16} more` }));
}
