// The note beside the pointer: what is under it.

import { element } from "./elements.js";
import { magnified } from "./resize.js";

const BESIDE = 14; // pixels from the pointer
const BELOW = 18;
const ABOVE = 10;

// A note that may stand anywhere in the window, for pictures too small to hold one.
export function windowTip(root) {
  const tip = element("div", { class: "tip in-window", hidden: true });
  root.append(tip);
  return tip;
}

export function placeInWindow(tip, { clientX, clientY }) {
  const own = (lengths) => lengths.map((length) => length / magnified());
  placeTip(tip, own([clientX, clientY]), own([innerWidth - 8, innerHeight - 8]));
}

// Inside a box of that size: to the left where there is no room on the right, above where there is none below.
export function placeTip(tip, [x, y], [width, height]) {
  tip.hidden = false;
  const { offsetWidth, offsetHeight } = tip;
  const isBelow = y + BELOW + offsetHeight <= height;
  tip.style.left = `${Math.max(0, Math.min(x + BESIDE, width - offsetWidth))}px`;
  tip.style.top = `${isBelow ? y + BELOW : y - offsetHeight - ABOVE}px`;
}
