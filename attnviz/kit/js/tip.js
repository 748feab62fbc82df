// The note beside the pointer: what is under it. It is in the browser's top layer, where nothing cuts or moves it. A key
// puts it away until the pointer moves: it would lie over the map that the keys change.

import { hearPage } from "./attached.js";
import { closeBubble } from "./bubble.js";
import { element } from "./elements.js";
import { magnified } from "./resize.js";

const BESIDE = 14; // pixels from the pointer
const BELOW = 18;
const ABOVE = 10;
const EDGE = 8; // of the window

const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];

// A note for a node of the widget's own (`placeTip`).
export function createTip(app, className = "tip") {
  const tip = element("div", { class: className, popover: "manual" });
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

export const hideTip = closeBubble;

function putAway(tip) {
  hideTip(tip);
  tip.dataset.away = "";
}

export const placeInWindow = (tip, { clientX, clientY }) =>
  place(tip, [clientX, clientY], { left: 0, right: innerWidth - EDGE, bottom: innerHeight - EDGE });

// Beside a point of the node, in the node's own pixels, and inside the node.
export function placeTip(tip, node, point) {
  const box = node.getBoundingClientRect();
  const [x, y] = point.map((length) => length * magnified());
  place(tip, [box.left + x, box.top + y], box);
}

// To the left where there is no room on the right, above where there is none below. What is in the top layer has the
// window's pixels, and is magnified by its style.
function place(tip, [x, y], { left, right, bottom }) {
  if ("away" in tip.dataset) return hideTip(tip);
  if (!tip.matches(":popover-open")) tip.showPopover();
  const [width, height, beside, below, above] = [tip.offsetWidth, tip.offsetHeight, BESIDE, BELOW, ABOVE].map(
    (length) => length * magnified(),
  );
  tip.style.left = `${Math.max(left, Math.min(x + beside, right - width))}px`;
  tip.style.top = `${y + below + height <= bottom ? y + below : y - height - above}px`;
}
