// The component's fixed parts, and how all of it is painted.

import { helpPane } from "../../../kit/js/base/help.js";
import { watchKeys } from "../../../kit/js/base/keys.js";
import { picturePane } from "../../../kit/js/base/pane.js";
import { paintWords, wordsPane } from "../../../kit/js/base/words.js";
import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { explained } from "../../../kit/js/definitions.js";
import { button, element, put } from "../../../kit/js/elements.js";
import { tellPainted } from "../../../kit/js/resize.js";
import { isolated, shortText } from "../../../kit/js/text.js";
import { windowTip } from "../../../kit/js/tip.js";
import { nextStep } from "./choice.js";
import { paintLegend, paintMatrices } from "./draw.js";
import { forcePane, paintForce } from "./force.js";
import { LEGEND, layoutOf } from "./layout.js";
import { actionOf, watchMatrices } from "./pointer.js";

const KEYS = [
  ["← ↑ ↓ →", "walk the cells"],
  ["Enter", "patch the cell, or undo it", "put"],
  ["U", "undo the last", "put"],
  ["N", "go to the word with the next largest difference", "step"],
  ["g", "the model as a drawing", "drawing"],
  ["?", "these keys and words"],
];
const WORDS = ["Restored", "Control", "Applied patches", "Direction"];
const HINT = "Click a cell to patch it, drag over several (or arrow keys and Enter).";

export function buildShell(app) {
  const { parts } = app;
  const next = explained(button("Next step", { onclick: () => nextStep(app) }), "Next step", "N");
  const steps = wordsPane(app, next);
  parts.why = element("p", { role: "status" });
  parts.canvas = element("canvas", { role: "img" });
  const label = "Matrices of patches";
  parts.box = element(
    "div",
    { class: "matrices scrolls", tabindex: "0", role: "group", "aria-label": label },
    parts.canvas,
  );
  const hint = element("footer", { class: "quiet", text: HINT, "data-control": "put" });
  app.root.replaceChildren(
    steps,
    picturePane(app, { label: "What each patch restores", hasHelp: true }, parts.why, parts.box, hint),
    forcePane(app),
    helpPane(app, KEYS, WORDS),
  );
  parts.tip = windowTip(app);
  const repaint = () => paintPicture(app);
  watchMatrices(app, repaint);
  watchKeys(app, (_, event) => actionOf(app, event, repaint));
}

export function titleOf({ metric, step }) {
  const names = [metric.a, metric.b].map(isolated);
  return `What each patch restores of ${names[0]} − ${names[1]}, step ${step}`;
}

export function paint(app, began) {
  const { parts, payload } = app;
  const { header } = payload;
  if (app.drawn !== header.id) {
    app.drawn = header.id;
    app.cursor = app.dragged = null;
  }
  put(parts.title, titleOf(header));
  put(parts.why, header.why_not);
  parts.why.hidden = !header.why_not;
  parts.box.hidden = !header.matrices.length;
  paintWords(app, apartText);
  paintForce(app);
  paintPicture(app);
  tellPainted(app, began);
}

function paintPicture(app) {
  const { parts, payload } = app;
  if (!payload?.header.matrices.length) return;
  app.layout = layoutOf(payload.header, parts.box.clientWidth);
  if (app.cursor)
    app.cursor[0] = app.layout.blocks.find((each) => each.at === app.cursor[0].at && each.name === app.cursor[0].name);
  const { width, height } = app.layout;
  const context = sharpContext(parts.canvas, [Math.max(width, 280), height]);
  const pen = canvasPen(context, app.theme);
  const marked = new Set([...app.view.put, ...(app.dragged ?? [])]);
  paintMatrices(app, pen, app.layout, { marked, cursor: app.cursor });
  paintLegend(app, pen, height - LEGEND, width);
  parts.canvas.setAttribute("aria-label", titleOf(payload.header));
}

const apartText = ({ difference }) =>
  `: the two answers are ${shortText(difference)} apart (0 the same, 1 nothing shared)`;
