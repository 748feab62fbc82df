// The query tokens, and the key tokens with the weights that the query gives them; either can be chosen.

import { element, showWithin } from "../../../kit/js/elements.js";
import { entryText, rowEntryText } from "../../../kit/js/tokens/entries.js";
import { change } from "../../../kit/js/store.js";
import { isolated, rowName, shortText } from "../../../kit/js/text.js";

export function paintLists(app) {
  const { header } = app.payload;
  const { parts, view, pair } = app;
  if (app.listKey !== header.base) {
    app.listKey = header.base;
    app.options = {
      row: header.rows.map((row, i) => optionNode(app, "row", i, row)),
      key: header.cols.map((text, i) => optionNode(app, "key", i, [text, null])),
    };
    app.options.row.forEach((node, i) => (node.title = rowEntryText(header.row_entries[i])));
    app.options.key.forEach((node, i) => (node.title = entryText(header.col_entries[i])));
    parts.queries.replaceChildren(...app.options.row);
    parts.keys.replaceChildren(...app.options.key);
  }
  for (const name of ["row", "key"])
    app.options[name].forEach((node, i) => {
      const isChosen = i === view[name];
      if (node.getAttribute("aria-selected") === String(isChosen)) return;
      node.setAttribute("aria-selected", String(isChosen));
      node.tabIndex = isChosen ? 0 : -1;
      if (isChosen) showWithin(node.parentElement, node);
    });
  app.options.key.forEach((node, i) => {
    const seen = pair.visible[i];
    node.querySelector(".option-score").textContent = seen ? shortText(pair.scores[i]) : "";
    node.querySelector(".option-weight").textContent = seen ? weightText(pair.attn[i]) : "masked";
    node.querySelector(".bar-fill").style.width = `${100 * pair.attn[i]}%`;
  });
}

// No list says that a small weight is none.
const weightText = (weight) => (weight > 0 && weight < 5e-5 ? "<0.0001" : weight.toFixed(4));

function optionNode(app, name, place, [input, output]) {
  const text = element("bdi", {
    class: "option-text",
    text: rowName([input && isolated(input), output && isolated(output)]),
  });
  const node = element(
    "li",
    { role: "option", tabindex: "-1", "aria-selected": "false" },
    element("span", { class: "quiet option-place", text: place }),
    text,
  );
  if (name === "key") {
    node.append(element("span", { class: "option-score quiet" }), element("span", { class: "option-weight" }));
    node.append(element("span", { class: "bar-track" }, element("span", { class: "bar-fill" })));
  }
  node.onclick = () => change(app, { [name]: place });
  node.onkeydown = (event) => walkOptions(app, event, name, place);
  return node;
}

function walkOptions(app, event, name, place) {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const next = app.options[name][place + step];
  if (!next) return;
  event.preventDefault();
  change(app, { [name]: place + step });
  next.focus();
}
