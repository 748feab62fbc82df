// The exact number of a map's cell, in a line below the maps: under the pointer or the finger, and by arrow keys.

import { element, put } from "../../../kit/js/elements.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export function readCells(node) {
  for (const maps of node.querySelectorAll(".maps")) readMaps(maps);
}

function readMaps(maps) {
  const line = element("p", { class: "note reading", role: "status", text: "\u00a0" });
  let now = null;

  function read(cell) {
    if (!cell || cell === now) return;
    now?.classList.remove("read");
    now = cell;
    now.classList.add("read");
    put(line, sentence(cell));
  }

  const cellOf = ({ target }) => target.closest("td[title]");
  maps.addEventListener("pointerover", (event) => read(cellOf(event)));
  maps.addEventListener("pointerdown", (event) => read(cellOf(event)));
  maps.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    read(now ? neighbour(maps, now, step) : maps.querySelector("td[title]"));
    now.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  maps.after(line);
}

// Left and right lead on into the map beside it.
function neighbour(maps, cell, [down, right]) {
  const row = cell.parentElement;
  const rowAt = (table, at) => table.rows[at]?.querySelectorAll("td[title]") ?? [];
  const cells = rowAt(cell.closest("table"), row.rowIndex + down);
  const at = [...row.querySelectorAll("td[title]")].indexOf(cell) + right;
  if (cells[at]) return cells[at];
  const tables = [...maps.querySelectorAll("table")];
  const beside = right && tables[tables.indexOf(cell.closest("table")) + right];
  return beside ? [...rowAt(beside, row.rowIndex)].at(right > 0 ? 0 : -1) : null;
}

function sentence(cell) {
  const table = cell.closest("table");
  const row = cell.parentElement.querySelector("th").textContent;
  const col = table.rows[0].cells[cell.cellIndex].textContent;
  return `${table.caption.textContent} · ${row} · ${col}: ${cell.title}`;
}
