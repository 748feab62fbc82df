// Keys of the drawing: steps by arrow, parts by up and down. They work where the drawing has the focus.

import { clamp } from "../../../kit/js/cells.js";
import { pause, play } from "../../../kit/js/player.js";
import { walk } from "./story.js";

export function watchKeys(app) {
  app.root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("details, select")) return;
    const isControl = event.target.closest("button, [role=button]");
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const part = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (step) {
      pause(app);
      walk(app, step);
    } else if (part) walkParts(app, part);
    else if (event.key === " " && !isControl && app.payload.header.run) play(app);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

// Up is from the input to the output, as it is drawn.
function walkParts(app, by) {
  const nodes = [...app.parts.figure.querySelectorAll("[data-part] > :is(a, [tabindex]):first-child")];
  if (!nodes.length) return;
  const now = nodes.indexOf(app.root.getRootNode().activeElement);
  const next = now < 0 ? (by > 0 ? 0 : nodes.length - 1) : clamp(now + by, 0, nodes.length - 1);
  nodes[next].focus();
}
