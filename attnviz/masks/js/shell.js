// The component's fixed parts, built once for each place in the page.

import { range } from "../../kit/js/cells.js";
import { explained, watchDefinitions } from "../../kit/js/definitions.js";
import { exportMenu } from "../../kit/js/downloads.js";
import { button, element } from "../../kit/js/elements.js";
import { watchNodes } from "../../kit/js/resize.js";
import { createTip } from "../../kit/js/tip.js";
import { ZOOM_STEP } from "../../kit/js/zoom.js";
import { EXPORTS } from "./exports.js";
import { LAB_KEYS, watchLabKeys } from "./keys.js";
import { bake, invertPaint, paintCells } from "./paint.js";
import { watchLabPointer } from "./pointer.js";
import { setZoom, zoomBy } from "./zoom.js";
import { wholeMap } from "./zoom_window.js";

const TITLED = { scores: "Scores", masked: "Masked scores", attn: "Weights", sums: "Row sum", context: "Context" };

export function buildLab(app) {
  const { parts } = app;
  parts.title = element("h2");
  parts.map = element("canvas", {
    tabindex: "0",
    role: "application",
    "aria-label": "Scores, masked scores, weights and context; the mask can be painted",
  });
  parts.tip = createTip(app);
  parts.titles = Object.fromEntries(
    Object.entries(TITLED).map(([name, term]) => [
      name,
      explained(element("span", { class: "asked", tabindex: "0", role: "note", "aria-label": term }), term),
    ]),
  );
  parts.mapBox = element("div", { class: "lab-map" }, parts.map, ...Object.values(parts.titles), parts.tip);
  parts.legend = element("p", { class: "quiet" });
  parts.live = element("div", { class: "said", role: "status", "aria-live": "polite" });
  parts.findings = element("ul", { class: "findings", "aria-label": "What happened" });
  parts.sums = element("ol", { class: "unseen", "aria-label": "Row sums" });
  app.root.replaceChildren(
    element("header", {}, parts.title, labTools(app, parts)),
    parts.mapBox,
    element("div", { class: "spread" }, parts.legend, parts.live),
    parts.findings,
    numbersPane(parts),
    parts.sums,
    helpPane(app, parts),
  );
  watchLabPointer(app);
  watchLabKeys(app);
  watchDefinitions(app);
  watchNodes(app, [app.root], () => {
    const changed = Math.abs(app.root.clientWidth - 26 - app.width) > 2; // its height follows from what it shows
    if (changed && app.widget.measure(app)) app.widget.draw(app);
  });
}

function labTools(app, parts) {
  const tool = (text, title, act) => button(text, { title, onclick: () => act(app) });
  parts.zoom = element(
    "span",
    { class: "tools", hidden: true },
    tool("+", "Zoom in (+), or drag a box on scores or weights", () => zoomBy(app, ZOOM_STEP)),
    tool("−", "Zoom out (−)", () => zoomBy(app, 1 / ZOOM_STEP)),
  );
  const named = (term, act) => explained(tool(term, null, act), term);
  parts.whole = named("Whole map", () => setZoom(app, wholeMap(app)));
  parts.finger = button("Paint by finger", {
    class: "finger",
    title:
      "If this is on, your finger paints on the masked scores. If it is off, your finger scrolls the page, and a tap pins the row.",
    "aria-pressed": "false",
    onclick: () => {
      app.fingerPaints = !app.fingerPaints;
      parts.finger.setAttribute("aria-pressed", String(app.fingerPaints));
    },
  });
  return element(
    "div",
    { class: "tools" },
    parts.finger,
    parts.zoom,
    parts.whole,
    named("Clear paint", () => paintCells(app, range(app.cells.length), 1)),
    named("Invert", invertPaint),
    named("To paint", bake),
    exportMenu(app, EXPORTS),
    (parts.helpButton = tool("? keys", "Keys", () => {
      parts.help.hidden = !parts.help.hidden;
    })),
  );
}

function numbersPane(parts) {
  parts.rowTitle = element("h3");
  parts.rowHint = element("span", { class: "quiet" });
  parts.table = element("table", { "aria-label": "Pinned row in numbers" });
  return element(
    "section",
    { class: "numbers", "aria-label": "Pinned row" },
    element("div", { class: "spread start" }, parts.rowTitle, parts.rowHint),
    element("div", { class: "scroll", tabindex: "0" }, parts.table),
  );
}

function helpPane(app, parts) {
  const rows = LAB_KEYS.flatMap(([keys, what]) => [element("dt", { text: keys }), element("dd", { text: what })]);
  parts.help = element(
    "div",
    { class: "help", role: "dialog", "aria-label": "Keys", hidden: true },
    element("h3", { text: "Keys, while the maps have the focus" }),
    element("dl", {}, ...rows),
  );
  app.root.onkeydown = (event) => {
    if (event.key === "Escape") parts.help.hidden = true;
  };
  // It covers the maps and the menu: it goes with the next thing done.
  app.root.addEventListener("pointerdown", ({ target }) => {
    if (!parts.help.contains(target) && target !== parts.helpButton) parts.help.hidden = true;
  });
  return parts.help;
}
