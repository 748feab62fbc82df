// Heads that are pinned, and what is done with them.

import { explained } from "../../kit/js/definitions.js";
import { button, element } from "../../kit/js/elements.js";
import { siteName } from "../../kit/js/text.js";
import { choose, togglePin } from "./choice.js";
import { pinName } from "./map/tiles.js";

const COMPARE = [
  ["none", "In focus"],
  ["side", "Side by side"],
  ["difference", "Difference"],
];

export function paintPins(app) {
  const { parts, view, payload } = app;
  parts.pinBar.hidden = !view.pins.length;
  const key = JSON.stringify([payload.header.base, view.pins]);
  if (parts.pinList.dataset.drawn !== key) {
    parts.pinList.dataset.drawn = key;
    parts.pinList.replaceChildren(...view.pins.map((pin) => pinNode(app, pin)));
  }
  for (const choice of parts.compare.children)
    choice.setAttribute("aria-pressed", String(choice.dataset.compare === view.compare));
}

// The head comes first in its chip, then in a word the kind, where the pinned heads are of several.
function pinNode(app, pin) {
  const [kind, layer, head] = pin;
  const name = pinName(app, pin);
  const isOfSeveral = app.view.pins.some(([other]) => other !== kind);
  const word = isOfSeveral ? ` ${app.payload.kinds.get(kind).tab.toLowerCase().split(" ")[0]}` : "";
  const text = `${siteName(layer, head)}${word}`;
  const go = button(text, {
    class: "pin-name",
    title: `Bring ${name} into focus`,
    onclick: () => choose(app, { kind, layer, head, compare: "none" }),
  });
  const off = button("×", { class: "pin-off", "aria-label": `Unpin ${name}`, onclick: () => togglePin(app, pin) });
  return element("span", { class: "pin" }, go, off);
}

export const compareButtons = (app) =>
  COMPARE.map(([id, text]) =>
    explained(button(text, { "data-compare": id, onclick: () => choose(app, { compare: id }) }), text, "d"),
  );
