// Every way of aligning with its error, in the order of a column; a click on one draws it. The first of them are listed, and
// the one that is drawn; a button shows all.

import { clamp } from "../../../kit/js/cells.js";
import { explained, termNode } from "../../../kit/js/definitions.js";
import { button, element, put } from "../../../kit/js/elements.js";
import { change } from "../../../kit/js/store.js";
import { ordered, wayText } from "./choice.js";

const FEW = 6;
const COLUMNS = [
  ["way", "Way"],
  ["rate", "AER"],
  ["own", "Here"],
];

export function waysPane(app) {
  const { parts } = app;
  app.order = { column: "rate", isUp: true };
  parts.allWays = explained(button("", { class: "link all-ways", onclick: () => showAll(app) }), "All ways");
  parts.waysNote = element("p", { class: "quiet" });
  parts.heads = COLUMNS.map(([column, title]) =>
    explained(
      button(title, { class: "link", onclick: () => sortBy(app, column) }),
      title === "Way" ? "Ways to align" : title,
    ),
  );
  const head = element("tr", {}, ...parts.heads.map((node) => element("th", { scope: "col" }, node)));
  parts.ways = element("tbody");
  parts.waysBox = element(
    "div",
    { class: "ways-box" },
    element("table", { class: "ways" }, element("thead", {}, head), parts.ways),
  );
  parts.waysBox.onkeydown = (event) => walk(app, event);
  return element(
    "aside",
    { class: "pane", "aria-label": "Ways to align" },
    element("h2", {}, termNode("Every way", "Ways to align")),
    parts.waysNote,
    parts.waysBox,
    parts.allWays,
  );
}

function sortBy(app, column) {
  app.order = { column, isUp: app.order.column === column ? !app.order.isUp : true };
  app.waysKey = null;
  paintWays(app);
}

function showAll(app) {
  app.areAllListed = !app.areAllListed;
  paintWays(app);
}

function listed(app) {
  const ways = ordered(app.payload.header.ways, app.order);
  return app.areAllListed ? ways : ways.filter(({ name }, at) => at < FEW || name === app.view.way);
}

export function paintWays(app) {
  const { header } = app.payload;
  const ways = listed(app);
  const key = JSON.stringify([header.base, app.order, app.areAllListed, ways.map(({ name }) => name)]);
  if (app.waysKey !== key) {
    app.waysKey = key;
    app.wayNodes = new Map();
    const hadFocus = app.parts.ways.contains(app.root.getRootNode().activeElement);
    app.parts.ways.replaceChildren(...ways.map((way) => wayRow(app, way)));
    if (hadFocus) app.wayNodes.get(app.view.way)?.focus();
    put(app.parts.allWays, app.areAllListed ? `The first ${FEW}` : `All ${header.ways.length} ways`);
    app.parts.allWays.hidden = header.ways.length <= FEW;
    app.parts.allWays.setAttribute("aria-expanded", String(Boolean(app.areAllListed)));
    put(app.parts.waysNote, noteOf(header));
    app.parts.heads.forEach((node, i) => {
      const isIt = COLUMNS[i][0] === app.order.column;
      node.parentElement.setAttribute("aria-sort", isIt ? (app.order.isUp ? "ascending" : "descending") : "none");
    });
  }
  for (const [name, node] of app.wayNodes) {
    node.setAttribute("aria-selected", String(name === app.view.way));
    node.tabIndex = name === app.view.way ? 0 : -1;
  }
}

function noteOf({ ways, language, lacking }) {
  const isScored = ways.some(({ rate }) => rate !== null);
  const said = isScored
    ? `AER: errors over all links by hand${language && `, ${language}`}. Here: of this sentence. 0 is perfect.`
    : "No alignment errors were measured for this model in this language.";
  return [said, ...Object.entries(lacking).map(([method, why]) => `No ${method}: ${why}.`)].join(" ");
}

function wayRow(app, way) {
  const offered = app.payload.header.ways.indexOf(way) < app.payload.header.offered;
  const rate = (value) => element("td", { class: "list-weight", text: value === null ? "–" : value.toFixed(3) });
  const row = element(
    "tr",
    { role: "row", "data-way": way.name },
    element("td", { text: wayText(way) }),
    rate(way.rate),
    rate(way.own),
  );
  if (!offered || (app.lacks.has("way") && way.name !== app.view.way)) {
    row.classList.add("quiet");
    return row;
  }
  row.onclick = () => change(app, { way: way.name });
  app.wayNodes.set(way.name, row);
  return row;
}

function walk(app, event) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const names = [...app.wayNodes.keys()];
  const at = names.indexOf(event.target.closest?.("[data-way]")?.dataset.way);
  if (at < 0) return;
  if (event.key === "Enter" || event.key === " ") change(app, { way: names[at] });
  else if (step) app.wayNodes.get(names[clamp(at + step, 0, names.length - 1)]).focus();
  else return;
  event.preventDefault();
}
