// A table of lines, one of them current. The choice is marked at once; Python hears of it when the keys have come to rest.
// The table's body is the list; its heads are no part of that, for they can be asked what they mean.

import { showWithin } from "../../../kit/js/elements.js";

const REST = 120; // milliseconds
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };

export default function ({ parentElement, data, setStateValue }) {
  const box = parentElement.querySelector(".lines");
  if (box.drawn !== JSON.stringify([data.heads, data.rows, data.code, data.helps])) draw(box, data);
  clearTimeout(box.waiting);
  mark(box, data.current);
  const choose = (at) => {
    mark(box, Math.max(0, Math.min(data.rows.length - 1, at)));
    clearTimeout(box.waiting);
    // The time makes every choice a new one: the same line may be chosen again after Back.
    box.waiting = setTimeout(() => setStateValue("chosen", { at: box.current, time: Date.now() }), REST);
  };
  box.onclick = (event) => {
    const row = event.target.closest("[role=option]");
    if (row) choose(Number(row.dataset.at));
  };
  box.onkeydown = (event) => {
    if (!(event.key in STEPS) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(box.current + STEPS[event.key]);
  };
}

function draw(box, data) {
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const part of [table, table.tHead, head]) part.setAttribute("role", "none");
  for (const title of data.code ? ["", ...data.heads] : data.heads) {
    const cell = document.createElement("th");
    cell.setAttribute("role", "none");
    cell.textContent = title;
    if (data.helps[title]) cell.replaceChildren(asked(title, data.helps[title]));
    head.append(cell);
  }
  const body = table.createTBody();
  body.setAttribute("role", "listbox");
  body.setAttribute("aria-label", data.label);
  body.tabIndex = 0;
  data.rows.forEach((texts, at) => {
    const row = body.insertRow();
    row.id = `line-${at}`;
    row.dataset.at = at;
    row.setAttribute("role", "option");
    for (const text of data.code ? [at, ...texts] : texts) row.insertCell().textContent = text;
  });
  box.replaceChildren(table);
  box.classList.toggle("code", data.code);
  box.drawn = JSON.stringify([data.heads, data.rows, data.code, data.helps]);
}

// A title that has a definition: the page shows it.
function asked(title, term) {
  const name = document.createElement("span");
  Object.assign(name, { textContent: title, className: "term", tabIndex: 0 });
  name.dataset.term = term;
  return name;
}

function mark(box, at) {
  box.current = at;
  for (const row of box.querySelectorAll("[role=option]")) {
    const current = Number(row.dataset.at) === at;
    row.setAttribute("aria-selected", current);
    if (current) showWithin(box, row, box.querySelector("thead").offsetHeight);
  }
  box.querySelector("[role=listbox]").setAttribute("aria-activedescendant", `line-${at}`);
}
