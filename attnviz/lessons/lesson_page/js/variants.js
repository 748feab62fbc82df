// A tab that is HTML: its parts below each other, and for each of its controls a slider or a list that chooses among
// fragments, which were drawn when the folder was made.

import { element } from "../../../kit/js/elements.js";
import { readCells } from "./cells.js";
import { sortTables } from "./sorting.js";

// Draws the parts in `node`; `view` has the place of each control's value, and keeps what is chosen.
export function drawTab(node, parts, view) {
  node.replaceChildren(
    ...parts.flatMap((part) => (typeof part === "string" ? [markup(part)] : variantsOf(part, view))),
  );
}

function markup(text) {
  const node = element("div", { class: "still" });
  node.innerHTML = text;
  readCells(node);
  sortTables(node);
  return node;
}

function variantsOf({ name, label, values, fragments, is_list, left_out }, view) {
  const drawn = element("div");
  const told = element("p", { class: "unseen", role: "status" });
  const show = (at) => {
    view[name] = at;
    drawn.replaceChildren(markup(fragments[at]));
  };
  const choose = (at) => {
    show(at);
    told.textContent = drawn.querySelector(".verdict")?.textContent ?? "";
  };
  show(view[name]);
  if (values.length < 2) return [drawn];
  const control = (is_list ? list : slider)({ id: `of-${name}`, label, values, at: view[name], choose });
  const bounds = left_out ? [element("p", { class: "note", text: left_out })] : [];
  return [element("div", { class: "control" }, ...control, ...bounds, told), drawn];
}

function list({ id, label, values, at, choose }) {
  const select = element("select", { id, onchange: () => choose(Number(select.value)) });
  select.append(...values.map((text, i) => element("option", { value: i, text, selected: i === at })));
  return [element("label", { for: id, text: label }), select];
}

function slider({ id, label, values, at, choose }) {
  const value = element("output", { for: id, "aria-hidden": "true" });
  const input = element("input", { id, type: "range", min: 0, max: values.length - 1, value: at, oninput: moved });
  const say = () => {
    value.textContent = values[input.value];
    input.setAttribute("aria-valuetext", values[input.value]);
  };
  function moved() {
    say();
    choose(Number(input.value));
  }
  say();
  return [element("label", { for: id, text: label }), value, input];
}
