// Pieces of panes that several tabs have: a switch, the menu that saves and the table.

import { explained } from "../definitions.js";
import { exportMenu, saveCSV, savePNG, saveSVG } from "../downloads.js";
import { button, element, group } from "../elements.js";
import { change } from "../store.js";
import { tableButton } from "./table.js";

// A few buttons of which one is pressed; `options` are [value, text], and the text is a term of the glossary. Without
// `options` they are those that the picture's state declares (attnviz/kit), drawn with the first payload, if any.
export function choices(app, name, options = []) {
  const node = group(...options.map((option) => choice(app, name, option)));
  node.dataset.control = name;
  (app.groups ??= new Map()).set(name, node);
  return node;
}

const choice = (app, name, [value, text]) =>
  explained(button(text, { "data-value": value, onclick: () => change(app, { [name]: value }) }), text);

export function paintChoices(app) {
  for (const [name, node] of app.groups ?? []) {
    if (!node.children.length) {
      const options = app.payload.header.options[name] ?? [];
      node.append(...options.map((option) => choice(app, name, option)));
      node.hidden = !options.length;
    }
    for (const one of node.children) one.setAttribute("aria-pressed", String(one.dataset.value === app.view[name]));
  }
}

// The picture as on the screen, and its numbers, as files and as a table.
export const exportTools = (app) => element("span", { class: "tools" }, tableButton(app), exportsOf(app));

const exportsOf = (app) =>
  exportMenu(app, [
    ["PNG picture", () => savePNG(app, fileName(app), app.widget.figureSize(app), drawn(app))],
    ["SVG picture", () => saveSVG(app, fileName(app), app.widget.figureSize(app), drawn(app))],
    ["CSV of the numbers", () => saveCSV(fileName(app), app.widget.csvRows(app))],
    ...(app.widget.moreFiles ?? []),
  ]);

const fileName = (app) => `attnviz-${app.widget.figureName(app)}`;
const drawn = (app) => (pen, context) => app.widget.figure(app, pen, context);
