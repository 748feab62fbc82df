// The note beside the pointer: what is under it. A key puts it away until the pointer moves: it would lie over the map that
// the keys change.

import { hearPage } from "./attached.js";
import { element } from "./elements.js";
import { magnified } from "./resize.js";

const BESIDE = 14; // pixels from the pointer
const BELOW = 18;
const ABOVE = 10;

const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];

// A note for a box of the widget's own (`placeTip`).
export function createTip(app, className = "tip") {
  const tip = element("div", { class: className, hidden: true });
  const isAlone = ({ key, ctrlKey, metaKey, altKey }) => !ctrlKey && !metaKey && !altKey && !MODIFIERS.includes(key);
  hearPage(app, {
    keydown: (event) => isAlone(event) && putAway(tip),
    pointermove: (event) => (event.movementX || event.movementY) && delete tip.dataset.away,
    pointerdown: () => delete tip.dataset.away,
  });
  return tip;
}

// A note that may stand anywhere in the window, for pictures too small to hold one.
export function windowTip(app) {
  const tip = createTip(app, "tip in-window");
  app.root.append(tip);
  return tip;
}

function putAway(tip) {
  tip.hidden = true;
  tip.dataset.away = "";
}

export function placeInWindow(tip, { clientX, clientY }) {
  const own = (lengths) => lengths.map((length) => length / magnified());
  placeTip(tip, own([clientX, clientY]), own([innerWidth - 8, innerHeight - 8]));
}

// Inside a box of that size: to the left where there is no room on the right, above where there is none below.
export function placeTip(tip, [x, y], [width, height]) {
  tip.hidden = "away" in tip.dataset;
  const { offsetWidth, offsetHeight } = tip;
  const isBelow = y + BELOW + offsetHeight <= height;
  tip.style.left = `${Math.max(0, Math.min(x + BESIDE, width - offsetWidth))}px`;
  tip.style.top = `${isBelow ? y + BELOW : y - offsetHeight - ABOVE}px`;
}
