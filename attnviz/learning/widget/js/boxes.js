// How large the places are that are drawn into, as the browser last told: asked for after lines have changed, it would lay
// the whole page out there and then.

import { watchNodes } from "../../../kit/js/resize.js";

const boxes = new WeakMap();

// `changed` is called when a place that has been drawn into is not as large any more.
export function watchBoxes(app, nodes, changed) {
  watchNodes(app, nodes, (entries) => {
    const moved = entries.filter(({ target }) => {
      const known = boxes.get(target);
      const now = measured(target);
      boxes.set(target, now);
      return known && now[0] && (known[0] !== now[0] || known[1] !== now[1]);
    });
    if (moved.length) changed();
  });
}

// Width and height inside its border, in pixels.
export function boxOf(node) {
  const known = boxes.get(node);
  if (known?.[0] && known[1]) return known;
  const now = measured(node);
  boxes.set(node, now);
  return now;
}

const measured = ({ clientWidth, clientHeight }) => [clientWidth, clientHeight];
