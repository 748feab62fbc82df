// The menu of what is chosen seldom: how maps and thumbnails are drawn, what stands below them. It stays open while several
// things are chosen, and says how many of them are not as they are at first.

import { hearPage } from "../../kit/js/attached.js";
import { explained } from "../../kit/js/definitions.js";
import { button, element, group, put } from "../../kit/js/elements.js";
import { select } from "../../kit/js/lists.js";
import { liftMenu, showMenu } from "../../kit/js/top_layer/menu.js";
import { choose, overHeads, overLayers } from "./choice.js";

export function optionsMenu(app) {
  const { parts } = app;
  parts.changed = element("span", { class: "changed-count" });
  parts.optionsButton = explained(element("summary", { text: "Options" }, parts.changed), "Options", "v");
  const list = element(
    "div",
    { class: "menu-list options-list", role: "group", "aria-label": "Options" },
    ...rows(app),
  );
  parts.options = element("details", { class: "menu options" }, parts.optionsButton, list);
  parts.options.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !parts.options.contains(relatedTarget)) parts.options.open = false;
  });
  parts.options.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !closeOptions(app)) return;
    event.stopPropagation(); // else the same key would let the pinned row go
  });
  liftMenu(app, parts.options);
  watchOutside(app);
  return parts.options;
}

function rows(app) {
  const { parts } = app;
  parts.specials = select("Specials", {
    key: "s",
    control: "specials",
    onchoose: (specials) => choose(app, { specials }),
  });
  parts.cells = select("Cells", { key: "c", control: "cells", onchoose: (cells) => choose(app, { cells }) });
  parts.range = select("Range", {
    onchoose: (choice) => choose(app, { sink: choice === "sink", scale: choice === "max" ? "max" : "fixed" }),
  });
  parts.tint = select("Tint", { onchoose: (tint) => choose(app, { tint }) });
  return [
    group(
      toggle(app, "meanHeads", "Mean heads", { key: "a", patch: () => overHeads(app) }),
      toggle(app, "meanLayers", "Mean layers", { key: "l", patch: () => overLayers(app) }),
    ),
    parts.cells.node,
    parts.range.node,
    parts.specials.node,
    group(
      toggle(app, "words", "Words", { key: "w", patch: otherWords }),
      toggle(app, "spans", "Fold", { key: "t", control: "words", patch: otherSpans }),
    ),
    parts.tint.node,
    group(
      toggle(app, "plotly", "Plotly", { patch: ({ plotly }) => ({ plotly: !plotly }) }),
      toggle(app, "table", "Table", { patch: ({ table }) => ({ table: !table }) }),
    ),
  ];
}

// Pieces are merged into words or into spans, or not at all.
export const SPANS = "spans";
export const otherWords = ({ words }) => ({ words: !words || words === SPANS });
export const otherSpans = ({ words }) => ({ words: words === SPANS ? false : SPANS });

export function toggle(app, name, text, { key, patch, control = name }) {
  const node = button(text, {
    "aria-pressed": "false",
    "data-control": control,
    onclick: () => choose(app, patch(app.view)),
  });
  return (app.parts[name] = explained(node, text, key));
}

// A press anywhere else closes it, in the page around the component, too.
function watchOutside(app) {
  const pressed = (event) => {
    if (!event.composedPath().includes(app.parts.options)) app.parts.options.open = false;
  };
  hearPage(app, { pointerdown: pressed });
}

export function toggleOptions(app) {
  const { options } = app.parts;
  if (options.open) return closeOptions(app);
  options.open = true;
  showMenu(options);
  options.querySelector("button").focus({ preventScroll: true });
}

// Whether it was open. The keyboard goes back to its button, or to the picture where that is presented alone.
export function closeOptions(app) {
  const { options, optionsButton } = app.parts;
  if (!options.open) return false;
  options.open = false;
  (optionsButton.checkVisibility() ? optionsButton : app.root).focus({ preventScroll: true });
  return true;
}

// Which controls of the menu are not as the picture's state has them at first (attnviz/heads/heads_state.py).
function changedIn({ view, payload }) {
  const differs = (...names) => names.some((name) => view[name] !== payload.header.defaults[name]);
  return {
    meanHeads: view.head === "mean",
    meanLayers: view.layer === "mean",
    range: differs("sink", "scale"),
    words: view.words && view.words !== SPANS,
    spans: view.words === SPANS,
    ...Object.fromEntries(["cells", "specials", "tint", "plotly", "table"].map((name) => [name, differs(name)])),
  };
}

export function paintOptions(app) {
  const { parts } = app;
  const changed = changedIn(app);
  for (const [name, is] of Object.entries(changed)) (parts[name].node ?? parts[name]).classList.toggle("changed", is);
  const count = Object.values(changed).filter(Boolean).length;
  put(parts.changed, count ? ` · ${count}` : "");
  parts.optionsButton.setAttribute("aria-label", count ? `Options, ${count} not at their default` : "Options");
}
