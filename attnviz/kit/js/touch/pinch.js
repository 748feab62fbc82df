// Two fingers on a picture of rows and columns: how far apart they are says how large it is wanted, and where they are,
// which part of it. One finger stays the page's own, which scrolls.

import { clamp } from "../cells.js";
import { pointIn } from "../resize.js";
import { LEAST_WINDOW, startingAt } from "../zoom.js";

// `grasp(point)` says what lies between two fingers that come down there, or null for nothing; `move(what, {from, to,
// factor})` draws it as they are now: from one point to another, and `factor` times as far apart.
export function watchPinch(node, { grasp, move }) {
  let held = null;
  const fingers = ({ touches: [a, b] }) => ({
    apart: Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)),
    point: pointIn(node, { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 }),
  });
  const down = (event) => {
    held = null;
    if (event.touches.length !== 2) return;
    const { apart, point } = fingers(event);
    const what = grasp(point);
    if (!what) return;
    event.preventDefault(); // else the browser takes both for a scroll
    held = { what, apart, from: point };
  };
  const moved = (event) => {
    if (!held || event.touches.length !== 2) return;
    event.preventDefault();
    const { apart, point } = fingers(event);
    move(held.what, { from: held.from, to: point, factor: apart / held.apart });
  };
  node.addEventListener("touchstart", down, { passive: false });
  node.addEventListener("touchmove", moved, { passive: false });
  for (const name of ["touchend", "touchcancel"]) node.addEventListener(name, () => (held = null));
}

// The window of one axis, [first, after the last] of `length`, when fingers that came down at the share `from` of it are
// at the share `to`, `factor` times as far apart: the same row or column stays between them.
export function pinched([first, end], { from, to, factor, length }) {
  const size = end - first;
  const wanted = Math.round(clamp(size / factor, Math.min(length, LEAST_WINDOW), length));
  return startingAt(Math.round(first + from * size - to * wanted), wanted, length);
}
