// A list to choose from, with its name.

import { range } from "./cells.js";
import { explained } from "./definitions.js";
import { element } from "./elements.js";

// `control` is the name of the choice, where Python has to answer it (kit/js/store.js).
export function select(label, { key = "", control, onchoose }) {
  const list = element("select", { "aria-label": label });
  list.onchange = () => onchoose(list.value);
  const node = element("label", { class: "pick", "data-control": control }, element("span", { text: label }), list);
  explained(node, label, key);
  return { node, list };
}

export function fillSelect({ list }, options, value) {
  const key = JSON.stringify(options);
  if (list.dataset.options !== key) {
    list.dataset.options = key;
    list.replaceChildren(...options.map(([id, text]) => element("option", { value: id, text })));
  }
  list.value = value;
}

// Options for layers or heads: [["0", "L0"], ["1", "L1"], …].
export const numbered = (count, letter) => range(count).map((i) => [String(i), `${letter}${i}`]);
