// A cell for each head over a canvas: pointed at, chosen, and reached by arrow keys; `app.cells` has them by site.

import { element } from "../../shared/js/elements.js";
import { change } from "../../shared/js/store.js";

// `box` is [x, y, w, h] in pixels; `pointAt(event)` fills the bubble, `next(key)` is the cell that an arrow key leads to.
export function headCell(app, [layer, head], { box: [x, y, w, h], className, name, pointAt, next }) {
  const node = element("div", {
    role: "gridcell",
    class: className,
    style: `left:${x}px;top:${y}px;width:${w}px;height:${h}px`,
    "data-site": `${layer}.${head}`,
    "aria-label": name,
  });
  const open = () => change(app, { layer, head, open: true });
  node.onpointermove = pointAt;
  node.onpointerleave = () => (app.parts.cellTip.hidden = true);
  node.onclick = open;
  node.onkeydown = (event) => {
    if (event.key === "Enter" || event.key === " ") open();
    else if (!walk(event, next(event.key))) return;
    event.preventDefault();
  };
  app.cells.set(`${layer}.${head}`, node);
  return node;
}

function walk(event, next) {
  if (!next) return false;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  return true;
}

// The head in focus is the one that the keyboard enters at.
export function markFocus(app) {
  for (const [name, node] of app.cells) {
    const isFocus = name === `${app.view.layer}.${app.view.head}`;
    node.setAttribute("aria-selected", String(isFocus));
    node.tabIndex = isFocus ? 0 : -1;
  }
}
