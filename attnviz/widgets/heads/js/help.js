// The keys, and what the words on the page mean. It covers the thumbnails, so that the next action closes it.

import { definitionOf } from "../../shared/js/definitions.js";
import { button, element } from "../../shared/js/elements.js";
import { metricLabel } from "./overview/overview.js";

const WORDS = [
  "Query",
  "Key",
  "Weight",
  "Encoder self",
  "Decoder self",
  "Cross",
  "Mean heads",
  "Mean layers",
  "Mask",
  "Words",
  "Cells",
  "‖α f(x)‖",
  "Share",
  "Specials",
  "Renormalised",
  "Range",
  "Sink",
  "Pin",
  "Switch off",
  "Difference",
];

const KEY_HELP = [
  ["← ↑ ↓ →", "walk the heads"],
  ["Shift ↑ ↓, j k", "move the pinned row"],
  ["Enter, Space", "pin the head"],
  ["c", "what a cell holds"],
  ["o", "switch the head off, or on again"],
  ["Esc", "unpin the row, end the zoom"],
  ["a", "average over heads"],
  ["l", "average over layers"],
  ["m", "hatch masked cells"],
  ["s", "special tokens"],
  ["w", "words or pieces"],
  ["v", "the menu of options"],
  ["1 2 3", "kind of attention"],
  ["d", "in focus, side by side, difference"],
  ["+ −, drag", "zoom in, zoom out; zoom to a box"],
  ["0, double click", "the whole map"],
  ["Shift ← →", "move a zoomed map sideways"],
  ["g", "the model as a drawing"],
  ["?", "these keys and words"],
];

export function helpPane(app, parts) {
  const close = button("×", { class: "help-close", "aria-label": "Close", onclick: () => closeHelp(app) });
  parts.measures = element("dl");
  parts.help = element(
    "div",
    { class: "help", role: "dialog", "aria-label": "Keys and words", tabindex: "-1", hidden: true },
    close,
    helpPart("Keys", definitionList(KEY_HELP)),
    helpPart("Measures", parts.measures),
    helpPart("Words", definitionList(WORDS.map((term) => [term, definitionOf(term)]))),
  );
  return parts.help;
}

const helpPart = (title, list) => element("section", {}, element("h3", { text: title }), list);

const definitionList = (entries) =>
  element("dl", {}, ...entries.flatMap(([term, text]) => [element("dt", { text: term }), element("dd", { text })]));

export function toggleHelp(app) {
  const { help, measures } = app.parts;
  if (!help.hidden) return closeHelp(app);
  const names = app.payload.header.metrics.names.map(([name]) => metricLabel(name));
  measures.replaceWith((app.parts.measures = definitionList(names.map((name) => [name, definitionOf(name)]))));
  help.hidden = false;
  help.focus({ preventScroll: true });
}

export function closeHelp(app) {
  app.parts.help.hidden = true;
}

export function watchHelp(app) {
  app.root.addEventListener("pointerdown", (event) => {
    const { help, helpButton } = app.parts;
    if (!help.hidden && !help.contains(event.target) && event.target !== helpButton) closeHelp(app);
  });
}
