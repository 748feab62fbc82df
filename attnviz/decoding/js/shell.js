// The component's fixed parts, built once for each place in the page.

import { termNode } from "../../kit/js/definitions.js";
import { exportMenu } from "../../kit/js/downloads.js";
import { button, element } from "../../kit/js/elements.js";
import { select } from "../../kit/js/lists.js";
import { pause, playerBar, walk, watchPlayerKeys } from "../../kit/js/player.js";
import { change } from "../../kit/js/store.js";
import { createTip } from "../../kit/js/tip.js";
import { EXPORTS } from "./exports.js";
import { watchPointer } from "./pointer.js";
import { siteChoice } from "./site.js";

export function buildShell(app) {
  const { parts } = app;
  app.root.replaceChildren(trainingPane(app, parts), inferencePane(app, parts));
  watchPointer(app);
  watchPlayerKeys(app, keyOf);
}

// Up and down as in the table.
function keyOf(app, { key }) {
  const by = { ArrowUp: -1, ArrowDown: 1 }[key];
  return by ? () => walk(app, app.view.step + by) : null;
}

function trainingPane(app, parts) {
  parts.mean = element("span", { class: "quiet" });
  parts.counts = element("p", { class: "quiet counts" });
  parts.note = element("p", { class: "quiet counts" });
  parts.tableBody = element("tbody");
  const heads = ["#", "goes in", "label", "probability", "loss", "model says"];
  const table = element(
    "table",
    { "aria-label": "Training: one pass over the whole target" },
    element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, termNode(text))))),
    parts.tableBody,
  );
  parts.tableBox = element("div", { class: "table-box", tabindex: "0" }, table);
  return element(
    "section",
    { class: "pane training", "aria-label": "Training" },
    element("header", { class: "spread" }, element("h2", { text: "Training: all at once" }), parts.mean),
    parts.tableBox,
    parts.counts,
    parts.note,
  );
}

function inferencePane(app, parts) {
  const said = "The prefix that goes in, and what comes out";
  parts.prefix = element("div", { class: "prefix", role: "group", tabindex: "0", "aria-label": said });
  parts.map = element("canvas", { role: "img", class: "map" });
  parts.tip = createTip(app);
  parts.mapBox = element("div", { class: "map-box" }, parts.map, parts.tip);
  parts.clock = termNode("", "ms");
  parts.clock.classList.add("quiet");
  parts.way = element("span", { class: "quiet" });
  const title = element("div", { class: "said" }, element("h2", { text: "Inference: step by step" }), parts.way);
  return element(
    "section",
    { class: "pane inference", "aria-label": "Inference" },
    element("header", { class: "spread" }, title, siteTools(app, parts)),
    playerBar(app, parts.clock),
    parts.prefix,
    element("div", { class: "step-body" }, parts.mapBox, candidatesPane(app, parts)),
  );
}

function siteTools(app, parts) {
  parts.layer = select("Layer", { onchoose: (text) => change(app, { layer: siteChoice(text) }) });
  parts.head = select("Head", { onchoose: (text) => change(app, { head: siteChoice(text) }) });
  parts.opens = button("", { "data-control": "open", onclick: () => openStep(app) });
  return element("div", { class: "tools" }, parts.layer.node, parts.head.node, parts.opens, exportMenu(app, EXPORTS));
}

// The step that is shown, also of a film that plays: it stops there.
function openStep(app) {
  pause(app);
  app.host.report("open", { step: app.view.step, at: performance.now() });
}

function candidatesPane(app, parts) {
  parts.top = element("ol", { class: "candidates", "aria-label": "Most likely next tokens" });
  parts.verdictOfStep = element("p", { class: "agreement" });
  parts.drawnLegend = element("p", { class: "quiet small" }, "bar: probability · line: ", termNode("drawn with"));
  parts.beamTitle = element("h3", {}, termNode("Hypotheses after this step"));
  parts.beam = element("ol", { class: "hypotheses", "aria-label": "Live and ended hypotheses" });
  return element(
    "aside",
    { class: "candidates-pane", "aria-label": "Next token" },
    element("h3", {}, termNode("Next token")),
    parts.verdictOfStep,
    parts.drawnLegend,
    parts.top,
    parts.beamTitle,
    parts.beam,
  );
}
