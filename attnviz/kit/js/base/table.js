// A picture's numbers as a table over it: to read aloud, to sort and to copy. The rows are those of its CSV.

import { explained } from "../definitions.js";
import { button, element } from "../elements.js";
import { exactText } from "../text.js";

const MOST = 2000; // lines that are drawn

export const tableButton = (app) => {
  app.parts.tableButton = explained(button("Table", { "aria-expanded": "false", onclick: () => toggle(app) }), "Table");
  return app.parts.tableButton;
};

function toggle(app) {
  const { parts } = app;
  if (!parts.table) {
    parts.table = element("div", { class: "pane numbers", role: "dialog", "aria-label": "Numbers", tabindex: "-1" });
    parts.table.hidden = true;
    parts.table.onkeydown = (event) => event.stopPropagation(); // the picture's keys rest while its numbers are read
    app.root.addEventListener("keydown", (event) => closeByEscape(app, event), { capture: true });
    app.root.append(parts.table);
  }
  parts.table.hidden = !parts.table.hidden;
  parts.tableButton.setAttribute("aria-expanded", String(!parts.table.hidden));
  app.sortedBy = null;
  paintTable(app);
  (parts.table.hidden ? parts.tableButton : parts.table).focus({ preventScroll: true });
}

// Wherever the focus is in the picture, unless something lies over the numbers: Escape takes one thing away at a time.
function closeByEscape(app, event) {
  const { table, help } = app.parts;
  const isCovered = (help && !help.hidden) || app.root.querySelector(".menu[open]");
  if (event.key !== "Escape" || table.hidden || isCovered) return;
  event.stopPropagation();
  toggle(app);
}

// Drawn again with the picture, while it is open.
export function paintTable(app) {
  const { table } = app.parts;
  if (!table || table.hidden) return;
  const [names, ...rows] = app.widget.csvRows(app);
  const lines = app.sortedBy ? sorted(rows, app.sortedBy) : rows;
  const close = button("×", { class: "help-close", "aria-label": "Close", onclick: () => toggle(app) });
  const head = element("tr", {}, ...names.map((name, column) => headNode(app, name, column, isNumber(rows, column))));
  const body = lines.slice(0, MOST).map((row) => element("tr", {}, ...row.map(cellNode)));
  table.replaceChildren(
    element("p", { class: "quiet", text: saidOf(app, rows.length) }),
    close,
    element(
      "div",
      { class: "numbers-box", tabindex: "0" },
      element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
    ),
  );
}

function saidOf(app, count) {
  const cut = count > MOST ? ` (the first ${MOST.toLocaleString("en")} are shown; the CSV has all)` : "";
  return `${app.widget.siteOf(app)}: ${count.toLocaleString("en")} rows${cut}. Click a column’s name to sort by it.`;
}

const isNumber = (rows, column) => rows.some(({ [column]: value }) => typeof value === "number");

function headNode(app, name, column, isRight) {
  const now = app.sortedBy?.column === column ? app.sortedBy.sign : 0;
  const sort = () => {
    app.sortedBy = { column, sign: now === 1 ? -1 : 1 };
    paintTable(app);
    app.parts.table.querySelectorAll("th button")[column].focus();
  };
  const text = String(name).replaceAll("_", " ");
  const said = { 1: "ascending", [-1]: "descending" }[now] ?? "none";
  const mark = { 1: " ▲", [-1]: " ▼" }[now] ?? "";
  return element(
    "th",
    { scope: "col", "aria-sort": said, class: isRight && "number" },
    button(text + mark, { onclick: sort }),
  );
}

const cellNode = (value) =>
  typeof value === "number"
    ? element("td", { class: "number", text: Number.isInteger(value) ? String(value) : exactText(value) })
    : element("td", {}, element("bdi", { text: String(value ?? "") }));

// Numbers by size and texts by letters; what is neither comes last.
export function sorted(rows, { column, sign }) {
  const isEmpty = (value) => value === "" || value === null || value === undefined || Number.isNaN(value);
  return [...rows].sort(({ [column]: one }, { [column]: other }) => {
    if (isEmpty(one) || isEmpty(other)) return isEmpty(one) - isEmpty(other);
    if (typeof one === "number" && typeof other === "number") return sign * (one - other);
    return sign * String(one).localeCompare(String(other), "en", { numeric: true });
  });
}
