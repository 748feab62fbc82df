// The component's fixed parts, and how all of it is painted.

import { helpPane, toggleHelp } from "../../../kit/js/base/help.js";
import { watchKeys } from "../../../kit/js/base/keys.js";
import { pane, picturePane } from "../../../kit/js/base/pane.js";
import { termNode } from "../../../kit/js/definitions.js";
import { button, element, showWithin } from "../../../kit/js/elements.js";
import { announce } from "../../../kit/js/live_region.js";
import { tellPainted } from "../../../kit/js/resize.js";
import { percentText, siteName } from "../../../kit/js/text.js";
import { windowTip } from "../../../kit/js/tip.js";
import { choose, groupOf, sortedHeads, walk } from "./choice.js";
import { paintMaps, watchPointer } from "./maps.js";

const KEYS = [
  ["↑ ↓, k j", "walk the heads, the most changed first"],
  ["g", "the model as a drawing", "drawing"],
  ["?", "these keys and words"],
];
const WORDS = ["Heads that changed most", "Texts side by side", "probabilities side by side"];
const FULL_BITS = 0.25; // where a bar is full
const STEPS = { ArrowDown: 1, ArrowRight: 1, j: 1, ArrowUp: -1, ArrowLeft: -1, k: -1 };

export function buildShell(app) {
  const { parts } = app;
  app.root.replaceChildren(headsPane(app), mapsPane(app), wordsPane(app), helpPane(app, KEYS, WORDS));
  parts.tip = windowTip(app);
  watchPointer(app);
  watchKeys(app, actionOf);
}

function headsPane(app) {
  const { parts } = app;
  parts.heads = element("div", {
    class: "noticed-list",
    role: "listbox",
    "aria-label": "Heads, by how far apart they are",
  });
  const head = [element("h2", {}, termNode("Heads that changed most"))];
  return pane(
    { label: "Heads that changed most", className: "noticed-pane", head },
    parts.heads,
    element("footer", {
      class: "quiet",
      text: "Jensen-Shannon divergence of a head’s rows, 0 to 1 bit; bars are full from 0.25.",
    }),
  );
}

function mapsPane(app) {
  const { parts } = app;
  parts.canvas = element("canvas", { role: "img" });
  parts.wait = element("p", { class: "quiet", text: "This head’s maps are loading." });
  parts.maps = element("div", { class: "pair-maps" }, parts.canvas, parts.wait);
  return picturePane(
    app,
    { label: "The two maps", className: "pair-pane", hasHelp: true },
    parts.maps,
    element("footer", {
      class: "quiet",
      text: "Weights 0 to 1; difference −1 to 1. Hatched: the run has no such row or column.",
    }),
  );
}

function wordsPane(app) {
  const { parts } = app;
  parts.wordsTitle = element("h3", {}, termNode("Texts side by side"));
  parts.words = element("div", { class: "words" });
  parts.stripTitle = element("h3", {}, termNode("probabilities side by side"));
  parts.said = element("ul", { class: "said-list" });
  parts.strip = element("div", { class: "pair-strip", tabindex: "0", "aria-label": "Probabilities of both" });
  parts.fixed = element("ul", { class: "said-list" });
  const fixed = element(
    "details",
    { class: "fixed" },
    element("summary", { text: "What is held fixed and what is not" }),
    parts.fixed,
  );
  return element(
    "section",
    { class: "pane pair-words", "aria-label": "Texts and probabilities" },
    element("div", {}, parts.wordsTitle, parts.words, parts.said, fixed),
    element("div", { class: "pair-chances" }, parts.stripTitle, parts.strip),
  );
}

const actionOf = (app, { key }) =>
  key in STEPS
    ? () => walk(app, STEPS[key])
    : key === "?" || (key === "Escape" && !app.parts.help.hidden)
      ? () => toggleHelp(app)
      : null;

export function paint(app, began) {
  const { header } = app.payload;
  if (app.pairKey !== header.base) paintOnce(app);
  const { kind, layer, head } = app.view;
  const { title, question, heads } = app.parts;
  title.textContent = `${groupOf(app).title} ${siteName(layer, head)}`;
  question.textContent = groupOf(app).question;
  for (const node of heads.children) {
    const isChosen = node.dataset.site === `${kind}.${layer}.${head}`;
    node.setAttribute("aria-selected", String(isChosen));
    node.tabIndex = isChosen ? 0 : -1;
    if (isChosen) showWithin(heads, node);
  }
  paintMaps(app);
  announce(app, header.said.join(" "));
  tellPainted(app, began);
}

function paintOnce(app) {
  const { parts, payload } = app;
  const { header } = payload;
  app.pairKey = header.base;
  parts.heads.replaceChildren(...sortedHeads(app).map((one) => headNode(app, one)));
  parts.said.replaceChildren(...header.said.map((text) => element("li", { text })));
  parts.fixed.replaceChildren(...header.fixed.map((text) => element("li", { text })));
  parts.words.replaceChildren(...header.texts.map((runs, side) => textNode(header.names[side], runs)));
  parts.strip.replaceChildren(...header.strip.map(placeNode));
  // A model that reads images has no texts, and a model without an output has no probabilities.
  parts.wordsTitle.hidden = parts.words.hidden = !header.texts.some((runs) => runs.length);
  parts.stripTitle.hidden = parts.strip.hidden = !header.strip.length;
}

function headNode(app, one) {
  const { group, layer, head, bits } = one;
  const text = bits === null ? "–" : bits.toFixed(3);
  const bar = element(
    "span",
    { class: "noticed-track" },
    element("span", { style: `width:${100 * Math.min(1, (bits ?? 0) / FULL_BITS)}%` }),
  );
  const node = button("", {
    role: "option",
    class: "noticed",
    "data-site": `${group.kind}.${layer}.${head}`,
    "aria-label": `${group.title} ${siteName(layer, head)}, ${text} bits`,
    onclick: () => choose(app, one),
  });
  node.append(element("span", { text: `${group.title} ${siteName(layer, head)}` }), bar, element("span", { text }));
  return node;
}

const textNode = (name, runs) =>
  element(
    "p",
    { class: "pair-written" },
    element("bdi", { class: "quiet", text: name }),
    element("bdi", {}, ...runs.map(([text, differs]) => (differs ? element("mark", { text }) : text))),
  );

export const sideText = (side) =>
  side ? `${side.text} ${side.chance === null ? "NaN" : percentText(side.chance)}` : "–";

function placeNode({ sides }) {
  const cell = (side) => {
    const node = element("span", { class: side ? "pair-side" : "pair-side quiet" });
    if (!side) return node;
    node.append(
      element("bdi", { class: side.special ? "quiet" : "", text: side.text }),
      element(
        "span",
        { class: "chance-track" },
        element("span", { class: "chance now", style: `width:${100 * (side.chance ?? 0)}%` }),
      ),
      element("span", { class: "strip-number", text: side.chance === null ? "NaN" : percentText(side.chance) }),
    );
    node.title = `${side.text}: ${side.log} nats, ${side.margin} ahead of ${side.rival}`;
    return node;
  };
  return element("div", { class: "pair-place" }, ...sides.map(cell));
}
