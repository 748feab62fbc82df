// The help that "?" opens: the keys of a widget, and definitions of its words.

import { definitionOf } from "../definitions.js";
import { button, element } from "../elements.js";

// `keys` are [key, what it does], and the name of the control that Python has to answer, if any; `words` are terms of the
// glossary.
export function helpPane(app, keys, words) {
  const { parts } = app;
  const close = button("×", { class: "help-close", "aria-label": "Close", onclick: () => (parts.help.hidden = true) });
  parts.help = element(
    "div",
    { class: "help", role: "dialog", "aria-label": "Keys and words", tabindex: "-1", hidden: true },
    close,
    helpPart("Keys", definitionList(keys)),
    helpPart("Words", glossary(words)),
  );
  return parts.help;
}

export const helpButton = (app) =>
  button("?", { "aria-label": "Keys and words", title: "Keys and words: ?", onclick: () => toggleHelp(app) });

export function toggleHelp(app) {
  const { help } = app.parts;
  help.hidden = !help.hidden;
  if (!help.hidden) help.focus({ preventScroll: true });
}

export const helpPart = (title, list) => element("section", {}, element("h3", { text: title }), list);

export const glossary = (words) => definitionList(words.map((word) => [word, definitionOf(word)]));

const definitionList = (entries) => element("dl", {}, ...entries.flatMap(definition));

function definition([term, text, control]) {
  const about = { "data-control": control };
  return [element("dt", { text: term, ...about }), element("dd", { text, ...about })];
}
