// The pane on the right: the tools that most visits need, pinned heads, the maps, the bars of a row, the legend.

import { explained } from "../../../kit/js/definitions.js";
import { exportMenu } from "../../../kit/js/downloads.js";
import { button, element } from "../../../kit/js/elements.js";
import { createTip } from "../../../kit/js/tip.js";
import { ZOOM_STEP } from "../../../kit/js/zoom.js";
import { choose, togglePin } from "../choice.js";
import { EXPORTS } from "../exports.js";
import { walk } from "../keys.js";
import { toggleOff } from "../off.js";
import { optionsMenu, toggle } from "../options.js";
import { compareButtons } from "../pins.js";
import { zoomBy } from "./zoom.js";

export function focusPane(app, parts) {
  parts.title = element("h2");
  parts.question = element("span", { class: "quiet" });
  parts.coarse = explained(element("span", { class: "coarse", tabindex: "0", hidden: true }), "8-bit");
  const said = element("div", { class: "said" }, parts.title, parts.question, parts.coarse);
  const head = element("header", { class: "spread" }, said, walkButtons(app), focusTools(app), optionsMenu(app));
  parts.map = element("canvas", { role: "img", class: "map" });
  parts.overlay = element("canvas", { class: "overlay", "aria-hidden": "true" });
  parts.tip = createTip(app);
  parts.mapBox = element("div", { class: "map-box", tabindex: "-1" }, parts.map, parts.overlay, parts.tip);
  return element(
    "section",
    { class: "pane focus", "aria-label": "Head in focus" },
    head,
    pinPane(app, parts),
    element("div", { class: "focus-body" }, parts.mapBox, barsPane(app, parts)),
    legendPane(app, parts),
  );
}

// Arrow keys for a screen that has none.
function walkButtons(app) {
  const step = (text, label, direction) => button(text, { "aria-label": label, onclick: () => walk(app, direction) });
  return element(
    "div",
    { class: "walk", role: "group", "aria-label": "Walk the heads" },
    step("←", "Head on the left", [0, -1]),
    step("↑", "Head above", [-1, 0]),
    step("↓", "Head below", [1, 0]),
    step("→", "Head on the right", [0, 1]),
  );
}

function focusTools(app) {
  const { parts } = app;
  parts.pin = explained(button("+ Pin", { class: "strong", onclick: () => togglePin(app) }), "Pin", "Enter");
  parts.off = explained(button("", { "data-control": "off", onclick: () => toggleOff(app) }), "Switch off", "o");
  const mask = toggle(app, "mask", "Mask", { key: "m", patch: ({ mask: isOn }) => ({ mask: !isOn }) });
  return element("div", { class: "tools" }, parts.pin, mask, parts.off, exportMenu(app, EXPORTS));
}

function pinPane(app, parts) {
  parts.pinList = element("div", { class: "pins" });
  parts.compare = element("div", { class: "group", role: "group", "aria-label": "Compare" }, ...compareButtons(app));
  return (parts.pinBar = element(
    "div",
    { class: "tools pin-bar", hidden: true },
    element("span", { class: "quiet", text: "Pinned" }),
    parts.pinList,
    parts.compare,
  ));
}

function barsPane(app, parts) {
  parts.barsTitle = element("h3", { class: "bars-title" });
  parts.barsOrder = button("by weight", {
    class: "link bars-order",
    onclick: () => choose(app, { bars: app.view.bars === "position" ? "weight" : "position" }),
  });
  parts.barsOf = element("p", { class: "bars-of" });
  parts.barsRow = element("p", { class: "quiet bars-row" });
  parts.barsEntry = element("p", { class: "quiet bars-entry" });
  parts.barsEmpty = element("p", {
    class: "quiet",
    text: "Click a row of the map, or a token above, to keep its exact weights here. Point at one for a preview.",
  });
  parts.bars = element("ol", { class: "bars", tabindex: "0", "aria-label": "Weights of the row" });
  parts.barsSum = element("p", { class: "quiet sum" });
  return element(
    "aside",
    { class: "bars-pane", "aria-label": "Pinned row" },
    element("header", {}, parts.barsTitle, parts.barsOrder),
    parts.barsOf,
    parts.barsRow,
    parts.barsEntry,
    parts.barsEmpty,
    parts.bars,
    parts.barsSum,
  );
}

function legendPane(app, parts) {
  parts.rangeLow = element("span");
  parts.rangeHigh = element("span");
  parts.legend = element("canvas", { class: "scale", role: "img", "aria-label": "Colour scale" });
  parts.note = element("span", { class: "note" });
  const link = (text, title, onclick) => button(text, { class: "link", title, onclick });
  parts.zoomIn = link("zoom in", "Zoom in (+), or drag a box on the map", () => zoomBy(app, ZOOM_STEP));
  parts.zoomOut = link("zoom out", "Zoom out (−)", () => zoomBy(app, 1 / ZOOM_STEP));
  parts.toMax = link("0 to max", "Colours from 0 to the largest weight", () => choose(app, { scale: "max" }));
  parts.toOne = link("0 to 1", "Colours from 0 to 1, the same for every head", () => choose(app, { scale: "fixed" }));
  parts.whole = link("whole map", "The whole map (0)", () => choose(app, { zoom: null }));
  return element(
    "footer",
    { class: "quiet legend" },
    parts.rangeLow,
    parts.legend,
    parts.rangeHigh,
    parts.note,
    parts.toMax,
    parts.toOne,
    element("span", { class: "zoom" }, parts.zoomIn, parts.zoomOut, parts.whole),
  );
}
