// A table of lines, one of them current. The choice is marked at once; Python hears of it when the keys have come to rest.

const REST = 120; // milliseconds
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };

export default function ({ parentElement, data, setStateValue }) {
  const box = parentElement.querySelector("[role=listbox]");
  const tip = parentElement.querySelector("[role=tooltip]");
  if (box.drawn !== JSON.stringify([data.heads, data.rows, data.code, data.helps])) {
    tip.hidden = true;
    draw(box, data, tip);
  }
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

function draw(box, data, tip) {
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const title of data.code ? ["", ...data.heads] : data.heads) {
    const cell = document.createElement("th");
    cell.textContent = title;
    if (data.helps[title]) explain(cell, title, data.helps[title], tip);
    head.append(cell);
  }
  const body = table.createTBody();
  data.rows.forEach((texts, at) => {
    const row = body.insertRow();
    row.id = `line-${at}`;
    row.dataset.at = at;
    row.setAttribute("role", "option");
    for (const text of data.code ? [at, ...texts] : texts) row.insertCell().textContent = text;
  });
  box.replaceChildren(table);
  box.setAttribute("aria-label", data.label);
  box.classList.toggle("code", data.code);
  box.drawn = JSON.stringify([data.heads, data.rows, data.code, data.helps]);
}

// A title's definition, below it: under the pointer, under a finger, and by the Tab key. Escape puts it away.
function explain(cell, title, words, tip) {
  const name = document.createElement("span");
  name.textContent = title;
  name.className = "term";
  name.tabIndex = 0;
  name.setAttribute("aria-description", words);
  cell.replaceChildren(name);
  const open = () => {
    const [from, around] = [cell.getBoundingClientRect(), tip.parentElement.getBoundingClientRect()];
    tip.textContent = words;
    tip.hidden = false;
    tip.style.top = `${from.bottom - around.top + 2}px`;
    tip.style.left = `${Math.max(4, Math.min(from.left - around.left, around.width - tip.offsetWidth - 4))}px`;
  };
  const close = () => { tip.hidden = true; };
  name.onmouseenter = name.onfocus = open;
  name.onmouseleave = name.onblur = close;
  name.onkeydown = (event) => { if (event.key === "Escape") close(); };
}

function mark(box, at) {
  box.current = at;
  for (const row of box.querySelectorAll("[role=option]")) {
    const current = Number(row.dataset.at) === at;
    row.setAttribute("aria-selected", current);
    if (current) show(box, row);
  }
  box.setAttribute("aria-activedescendant", `line-${at}`);
}

function show(box, row) {
  const head = box.querySelector("thead").offsetHeight;
  const top = row.offsetTop - head;
  if (top < box.scrollTop) box.scrollTop = top;
  const bottom = row.offsetTop + row.offsetHeight;
  if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}
