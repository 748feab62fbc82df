// The component's fixed parts, and how all of it is painted.

import { picturePane } from "../../../kit/js/base/pane.js";
import { choices, paintChoices } from "../../../kit/js/base/parts.js";
import { termNode, explained } from "../../../kit/js/definitions.js";
import { button, element, put } from "../../../kit/js/elements.js";
import { announce } from "../../../kit/js/live_region.js";
import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { pointIn, tellPainted } from "../../../kit/js/resize.js";
import { change } from "../../../kit/js/store.js";
import { isolated, rowName } from "../../../kit/js/text.js";
import { hideTip, placeInWindow, windowTip } from "../../../kit/js/tip.js";
import { columnName, methodOf, notesOf, paintFlow, titleOf } from "./figure.js";
import { layoutOf } from "./layout.js";
import { followBack, sublayersOf } from "./mixing.js";
import { paintRows, rowsPane } from "./rows.js";
import { paintShares, sharesPane } from "./shares.js";

const FAINTEST = 3e-4; // of a ribbon: thinner than any that is drawn
const SHORTEST = 280;
const NARROWEST = 560; // pixels: below, names of layers would lie on each other; a phone scrolls

export function buildShell(app) {
  app.root.replaceChildren(rowsPane(app), flowPane(app), sharesPane(app));
  app.parts.nodeTip = windowTip(app);
}

function flowPane(app) {
  const { parts } = app;
  parts.canvas = element("canvas", { role: "img" });
  parts.canvas.onpointermove = (event) => pointAt(app, event);
  parts.canvas.onpointerleave = () => hideTip(parts.nodeTip);
  parts.body = element("div", { class: "flow-body", tabindex: "0" }, parts.canvas);
  parts.note = element("footer", { class: "quiet" });
  parts.methods = choices(app, "by");
  return picturePane(app, { label: "Flow", tools: [parts.methods, residualSlider(app)] }, parts.body, parts.note);
}

function residualSlider(app) {
  const { parts } = app;
  parts.residual = element("input", { type: "range", min: 0, max: 100, step: 1, "aria-label": "Residual share" });
  parts.residual.oninput = () => change(app, { residual: Number(parts.residual.value) });
  parts.mark = element("span", { class: "measured-mark", hidden: true });
  parts.measured = explained(
    button("", { class: "link", onclick: () => change(app, { residual: measuredOf(app) }) }),
    "Measured share",
  );
  const slider = element("span", { class: "residual-slider" }, parts.residual, parts.mark);
  parts.slider = element("span", { class: "residual" }, termNode("Residual share"), slider, parts.measured);
  return parts.slider;
}

const measuredOf = (app) => Math.round(100 * app.payload.header.facts.measured);

export function paint(app, began) {
  const { parts, payload, view } = app;
  const { header } = payload;
  paintChoices(app);
  paintSlider(app);
  const by = methodOf(app);
  app.flow = followBack(sublayersOf(payload, by), view.row, by === "rollout" ? view.residual / 100 : 0, FAINTEST);
  put(parts.title, `${titleOf(app)}: ${isolated(rowName(header.rows[view.row]))}`);
  put(parts.question, "what the last layer's row is made of, layer by layer");
  paintRows(app);
  const best = paintShares(app);
  paintCanvas(app, by);
  parts.canvas.setAttribute("aria-label", `${parts.title.textContent}. ${best}`);
  announce(app, `${isolated(rowName(header.rows[view.row]))}: ${best}`);
  tellPainted(app, began);
}

// The note takes room, too, and says what was too thin in the room that there is: it is written first.
function paintCanvas(app, by) {
  const { parts, payload, view } = app;
  for (let twice = 0; twice < 2; twice++) {
    const room = [parts.body.clientWidth, parts.body.clientHeight - 2];
    app.layout = layoutOf(app.flow, [Math.max(NARROWEST, room[0]), Math.max(SHORTEST, room[1])]);
    put(parts.note, notesOf(app).join(" · "));
  }
  const { width, height } = app.layout;
  const key = JSON.stringify([payload.header.id, app.theme.key, view.row, by, view.residual, width, height]);
  if (app.paintedKey === key) return;
  app.paintedKey = key;
  hideTip(parts.nodeTip);
  paintFlow(app, canvasPen(sharpContext(parts.canvas, [width, height]), app.theme), app.layout);
}

function paintSlider({ parts, payload, view }) {
  const { measured, why_no_alti: why } = payload.header.facts;
  const isRollout = view.by === "rollout";
  parts.slider.hidden = !isRollout;
  if (parts.residual.value !== String(view.residual)) parts.residual.value = view.residual;
  parts.mark.hidden = parts.measured.hidden = measured === null;
  if (measured !== null) parts.mark.style.left = `${100 * measured}%`;
  if (measured !== null) put(parts.measured, `measured ${measured.toFixed(2)}`);
  for (const node of parts.methods.children) if (node.dataset.value === "alti") node.disabled = why !== "";
}

// The node under the pointer: which layer, which token, and its share.
function pointAt(app, event) {
  const [x, y] = pointIn(app.parts.canvas, event);
  const { header } = app.payload;
  for (const stack of ["encoder", "decoder"])
    for (const [height, column] of app.layout.boxes[stack].entries())
      for (const [at, box] of column.entries())
        if (Math.abs(x - box.x - 4) < 9 && y >= box.y - 2 && y <= box.y + box.h + 2 && box.share > 0) {
          const text = stack === "encoder" ? header.source[at] : header.target[at];
          const where = height ? `after ${columnName(header, stack, height)}` : columnName(header, stack, 0);
          app.parts.nodeTip.replaceChildren(
            element("div", {}, element("bdi", { text }), element("span", { class: "tip-at", text: ` #${at}` })),
            element("div", { class: "tip-at", text: where }),
            element("b", { class: "tip-value", text: `${(100 * box.share).toFixed(2)} %` }),
          );
          placeInWindow(app.parts.nodeTip, event);
          return;
        }
  hideTip(app.parts.nodeTip);
}
