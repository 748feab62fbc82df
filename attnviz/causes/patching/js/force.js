// The pane on the right: what is measured, which cells are patched, and what the model then writes.

import { explained } from "../../../kit/js/definitions.js";
import { button, element } from "../../../kit/js/elements.js";
import { isolated, shortText } from "../../../kit/js/text.js";
import { toggle, undo, undoAll } from "./choice.js";

const HONEST =
  "Held fixed: the target, word for word, and everything before the patched place that is not patched itself. Everything after it is " +
  "computed again. An activation can be sufficient without being necessary, and one pair of sentences proves little.";

export function forcePane(app) {
  const { parts } = app;
  parts.ends = element("p", { class: "ends" });
  parts.list = element("ul", { class: "in-force", "aria-label": "Applied patches", "data-control": "put" });
  parts.undo = explained(button("Undo last", { onclick: () => undo(app) }), "Undo last", "U");
  parts.undoAll = explained(button("Undo all", { onclick: () => undoAll(app) }), "Undo all");
  parts.came = element("dl");
  return element(
    "section",
    { class: "pane side", "aria-label": "Applied patches" },
    parts.ends,
    element(
      "header",
      { class: "spread", "data-control": "put" },
      explained(element("h2", { text: "Applied patches", class: "term", tabindex: "0" }), "Applied patches"),
      element("div", { class: "tools" }, parts.undo, parts.undoAll),
    ),
    parts.list,
    parts.came,
    element("p", { class: "quiet honest", text: HONEST }),
  );
}

const measureText = ({ a, b, clean, changed }) =>
  `logit(${isolated(a)}) − logit(${isolated(b)}): ${shortText(clean)} in the run that gives numbers, ${shortText(changed)} in the run that gets them`;

export function paintForce(app) {
  const { parts, payload } = app;
  const { header } = payload;
  parts.ends.replaceChildren(
    "From ",
    element("b", { text: `“${isolated(header.from)}”` }),
    " into ",
    element("b", { text: `“${isolated(header.into)}”` }),
    `. ${measureText(header.metric)}. Control, which should stay: ${measureText(header.control)}.`,
  );
  const cells = app.view.put;
  const named = new Map(header.done);
  const isCurrent = header.done.map(([cell]) => cell).join("~") === app.view.put.join("~");
  parts.undo.disabled = parts.undoAll.disabled = !cells.length;
  parts.list.replaceChildren(...cells.map((cell) => line(app, cell, named.get(cell) ?? cell)));
  if (!cells.length)
    parts.list.append(element("li", { class: "quiet", text: "None yet. Click a cell, or drag over several." }));
  parts.came.replaceChildren(
    ...(cells.length ? (isCurrent ? resultNodes(header) : [pair("", "The model runs …")].flat()) : []),
  );
}

const line = (app, cell, text) =>
  element(
    "li",
    {},
    element("span", { text }),
    button("×", { "aria-label": `Undo ${text}`, onclick: () => toggle(app, cell) }),
  );

const pair = (name, ...content) => [element("dt", { text: name }), element("dd", {}, ...content)];

function resultNodes({ result }) {
  if (!result) return [];
  const lines = [
    ...pair("Restored", element("b", { text: shortText(result.share) }), ` (metric ${shortText(result.patched)})`),
    ...pair("Control", shortText(result.moved)),
  ];
  if (!result.texts) return lines;
  const [before, after] = result.texts.map((runs) =>
    runs.map(([text, differs]) => (differs ? element("mark", { text }) : text)),
  );
  return [...lines, ...pair("Wrote", ...before), ...pair("Writes now", ...(after.length ? after : ["nothing"]))];
}
