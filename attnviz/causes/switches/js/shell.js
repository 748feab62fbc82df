// The component's fixed parts, and how all of it is painted.

import { helpButton, helpPane, toggleHelp } from "../../../kit/js/base/help.js";
import { watchKeys } from "../../../kit/js/base/keys.js";
import { pane } from "../../../kit/js/base/pane.js";
import { choices, exportTools, paintChoices } from "../../../kit/js/base/parts.js";
import { ARROWS, clamp } from "../../../kit/js/cells.js";
import { explained } from "../../../kit/js/definitions.js";
import { button, element, group } from "../../../kit/js/elements.js";
import { announce } from "../../../kit/js/live_region.js";
import { fillSelect, select } from "../../../kit/js/lists.js";
import { tellPainted } from "../../../kit/js/resize.js";
import { change } from "../../../kit/js/store.js";
import { paintAnswer } from "./answer.js";
import { boardLegend, paintBoard, watchDrags } from "./board.js";
import { allButThese, allOn, byWorth, isAnswered, setOff } from "./choice.js";
import { paintMoved } from "./moved.js";

const KEYS = [
  ["← ↑ ↓ →", "walk the switches"],
  ["Enter, Space", "off, or on again", "off"],
  ["i", "all but these", "off"],
  ["Esc, 0", "all on", "off"],
  ["m, l", "switch off the heads that matter most, least", "off"],
  ["g", "the model as a drawing", "drawing"],
  ["?", "these keys and words"],
];
const WORDS = [
  "worth",
  "Zero",
  "Mean",
  "Even",
  "Diagonal",
  "spreads",
  "nats",
  "probability of each token",
  "Where heads look now",
  "Count",
];

export function buildShell(app) {
  app.root.replaceChildren(boardPane(app), answerPane(app), movedPane(app), helpPane(app, KEYS, WORDS));
  watchDrags(app);
  watchKeys(app, actionOf);
}

function boardPane(app) {
  const { parts } = app;
  parts.board = element("div", { class: "board", role: "group", "aria-label": "Heads as switches" });
  parts.legend = element("footer", { class: "quiet" });
  parts.put = select("Replaced by", {
    control: "put",
    onchoose: (chosen) => change(app, { put: chosen, count: false }),
  });
  parts.measure = button("Measure", {
    class: "strong",
    "data-control": "measure",
    onclick: () => change(app, { measure: true }),
  });
  parts.title = element("h2");
  return pane(
    { label: "Switches", className: "board-pane", head: [parts.title], tools: [parts.put.node, shades(app)] },
    element("div", { class: "tools", "data-control": "off" }, ...turns(app)),
    element("div", { class: "board-box" }, parts.board),
    parts.measure,
    parts.legend,
  );
}

const shades = (app) => {
  app.parts.shades = choices(app, "shade");
  return app.parts.shades;
};

function turns(app) {
  const { parts } = app;
  parts.count = element("input", { type: "number", min: "1", value: "3", "aria-label": "How many heads" });
  const search = (term, isMost) =>
    explained(button(term.toLowerCase(), { onclick: () => turnByWorth(app, isMost) }), term);
  parts.search = element(
    "span",
    { class: "search tools" },
    element("span", { class: "quiet", text: "Switch off the" }),
    parts.count,
    element("span", { class: "quiet", text: "heads that matter" }),
    group(search("Most", true), search("Least", false)),
  );
  return [
    parts.search,
    explained(button("All but these", { onclick: () => allButThese(app) }), "All but these", "i"),
    explained(button("All on", { onclick: () => allOn(app) }), "All on", "Esc"),
  ];
}

function turnByWorth(app, isMost) {
  const off = byWorth(app, Math.max(1, Math.round(Number(app.parts.count.value)) || 1), isMost);
  if (off) setOff(app, off);
}

function answerPane(app) {
  const { parts } = app;
  parts.words = element("div", { class: "words", "aria-live": "polite" });
  parts.said = element("ul", { class: "said-list" });
  parts.many = element("ul", { class: "said-list", "aria-live": "polite" });
  parts.countIt = explained(
    button("Count", { class: "count-it", "data-control": "count", onclick: () => change(app, { count: true }) }),
    "Count",
  );
  parts.stripTitle = element("h3");
  parts.strip = element("ul", { class: "strip-list", tabindex: "0", "aria-label": "Probabilities" });
  parts.fixed = element("ul", { class: "said-list" });
  parts.answerTitle = element("h2");
  const head = [parts.answerTitle];
  const tools = [exportTools(app), helpButton(app)];
  return pane(
    { label: "What the model does now", className: "answer-pane", head, tools },
    parts.words,
    parts.said,
    parts.many,
    parts.countIt,
    parts.stripTitle,
    parts.strip,
    element(
      "details",
      { class: "fixed" },
      element("summary", { text: "What is held fixed and what is not" }),
      parts.fixed,
    ),
  );
}

function movedPane(app) {
  const { parts } = app;
  parts.movedTitle = element("h3");
  parts.maps = element("div", { class: "moved-maps", tabindex: "0" });
  return (parts.moved = element(
    "section",
    { class: "pane moved-pane", "aria-label": "Maps of the run as it is now" },
    parts.movedTitle,
    parts.maps,
  ));
}

function actionOf(app, { key }) {
  const { groups } = app.payload.header;
  if (key in ARROWS) return () => walk(app, ARROWS[key]);
  const isMeasured = Boolean(groups[0].nats);
  const actions = {
    i: () => allButThese(app),
    0: () => allOn(app),
    Escape: () => (app.parts.help.hidden ? allOn(app) : toggleHelp(app)),
    m: isMeasured ? () => turnByWorth(app, true) : null,
    l: isMeasured ? () => turnByWorth(app, false) : null,
    "?": () => toggleHelp(app),
  };
  return Object.hasOwn(actions, key) ? actions[key] : null;
}

// Down and up go on into the next kind's rows.
function walk(app, [down, right]) {
  const rows = rowsOf(app);
  const { activeElement } = app.root.getRootNode();
  const now =
    rows.flat().find(({ node }) => node === activeElement) ?? rows.flat().find(({ node }) => node.tabIndex === 0);
  const y = rows.findIndex((row) => row.includes(now));
  const row = rows[clamp(y + down, 0, rows.length - 1)];
  row[clamp(rows[y].indexOf(now) + right, 0, row.length - 1)].node.focus();
}

function rowsOf(app) {
  const rows = new Map();
  for (const one of app.switches.values()) {
    const key = `${one.group.kind}.${one.layer}`;
    rows.set(key, [...(rows.get(key) ?? []), one]);
  }
  return [...rows.values()];
}

export function paint(app, began) {
  const { parts, payload, view } = app;
  const { header } = payload;
  const isMeasured = Boolean(header.groups[0].nats);
  parts.title.textContent = view.off.length
    ? `${view.off.length} of ${app.switches?.size ?? "…"} heads off`
    : "Switch heads off";
  fillSelect(parts.put, header.options.put, view.put);
  paintChoices(app);
  parts.shades.hidden = !header.usual; // which it would show at its first painting
  parts.search.hidden = !isMeasured;
  parts.measure.hidden = isMeasured || !header.measurable;
  paintBoard(app);
  parts.title.textContent = view.off.length
    ? `${view.off.length} of ${app.switches.size} heads off`
    : "Switch heads off";
  parts.legend.replaceChildren(...boardLegend(app));
  paintAnswer(app);
  // The text is seen first. In other colours they are drawn at once: a page that is being printed has no later frame.
  if (app.movedKey?.includes(app.theme.key)) requestAnimationFrame(() => setTimeout(() => paintMoved(app)));
  else paintMoved(app);
  if (isAnswered(app)) announce(app, header.said.join(" "));
  tellPainted(app, began);
}
