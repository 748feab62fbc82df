// Long tables, sorted by their headings: the largest number first, texts from A, and the other way round when pressed again.

import { button } from "../../../kit/js/elements.js";

const LEAST = 12; // lines: fewer are seen at once

export function sortTables(node) {
  for (const table of node.querySelectorAll(".number-rows table")) if (table.rows.length > LEAST) addButtons(table);
}

function addButtons(table) {
  [...table.rows[0].cells].forEach((heading, at) => {
    heading.replaceChildren(button(heading.textContent, { class: "sort", onclick: () => sort(table, heading, at) }));
  });
}

function sort(table, heading, at) {
  const [top, ...lines] = table.rows;
  const numbers = lines.map((line) => numberOf(line.cells[at].textContent));
  const isText = numbers.every(Number.isNaN);
  const before = heading.getAttribute("aria-sort");
  const order = before === "descending" || (isText && before !== "ascending") ? "ascending" : "descending";
  const value = new Map(lines.map((line, i) => [line, isText ? line.cells[at].textContent : numbers[i]]));
  lines.sort((one, other) => (order === "ascending" ? 1 : -1) * compare(value.get(one), value.get(other)));
  for (const cell of top.cells) cell.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
  top.after(...lines);
}

const numberOf = (text) => (/^[−\d]/.test(text) ? Number.parseFloat(text.replace("−", "-").replaceAll(",", "")) : NaN);

// What is no number comes last of all that are sorted from the largest.
function compare(one, other) {
  if (typeof one === "string") return one.localeCompare(other, undefined, { numeric: true });
  if (Number.isNaN(one) || Number.isNaN(other)) return Number.isNaN(other) - Number.isNaN(one);
  return one - other;
}
