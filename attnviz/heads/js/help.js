// The keys, and what the words on the page mean. It covers the thumbnails, so that the next action closes it.

import { glossary, helpPane, helpPart, toggleHelp as toggle } from "../../kit/js/base/help.js";
import { element } from "../../kit/js/elements.js";
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
  "Fold",
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

const KEYS = [
  ["← ↑ ↓ →", "walk the heads"],
  ["Shift ↑ ↓, j k", "move the pinned row"],
  ["Enter, Space", "pin the head"],
  ["c", "what a cell holds", "cells"],
  ["o", "switch the head off, or on again", "off"],
  ["Esc", "unpin the row, end the zoom"],
  ["a", "average over heads"],
  ["l", "average over layers"],
  ["m", "hatch masked cells"],
  ["s", "special tokens", "specials"],
  ["w", "words or pieces", "words"],
  ["t", "spans of a conversation or tokens", "words"],
  ["v", "the menu of options"],
  ["1 2 3", "kind of attention"],
  ["d", "in focus, side by side, difference"],
  ["+ −, drag", "zoom in, zoom out; zoom to a box"],
  ["0, double click", "the whole map"],
  ["Shift ← →", "move a zoomed map sideways"],
  ["g", "the model as a drawing", "drawing"],
  ["?", "these keys and words"],
];

export function headsHelp(app) {
  const { parts } = app;
  const pane = helpPane(app, KEYS, WORDS);
  parts.measures = element("dl");
  pane.lastChild.before(helpPart("Measures", parts.measures));
  app.root.addEventListener("pointerdown", ({ target }) => {
    if (!pane.contains(target) && target !== parts.helpButton) pane.hidden = true;
  });
  return pane;
}

// The measures that this model has, whenever it is opened.
export function toggleHelp(app) {
  const { parts } = app;
  const measures = glossary(app.payload.header.metrics.names.map(([name]) => metricLabel(name)));
  parts.measures.replaceWith(measures);
  parts.measures = measures;
  toggle(app);
}
