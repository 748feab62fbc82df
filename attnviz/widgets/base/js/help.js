// What "?" opens: the keys of a widget, and what its words mean.

import { definitionOf } from "../../shared/js/definitions.js";
import { button, element } from "../../shared/js/elements.js";

// `keys` are [key, what it does], `words` terms of the glossary.
export function helpPane(app, keys, words) {
  const { parts } = app;
  const close = button("×", { class: "help-close", "aria-label": "Close", onclick: () => (parts.help.hidden = true) });
  parts.help = element(
    "div",
    { class: "help", role: "dialog", "aria-label": "Keys and words", tabindex: "-1", hidden: true },
    close,
    part("Keys", keys),
    part(
      "Words",
      words.map((word) => [word, definitionOf(word)]),
    ),
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

const part = (title, entries) =>
  element(
    "section",
    {},
    element("h3", { text: title }),
    element("dl", {}, ...entries.flatMap(([term, text]) => [element("dt", { text: term }), element("dd", { text })])),
  );
