// A list to choose from, with its name.

import { explained } from "./definitions.js";
import { element } from "./elements.js";

export function select(label, { key = "", onchoose }) {
  const list = element("select", { "aria-label": label });
  list.onchange = () => onchoose(list.value);
  const node = element("label", { class: "pick" }, element("span", { text: label }), list);
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
