// The component's fixed parts.

import { termNode } from "../../../kit/js/definitions.js";
import { element } from "../../../kit/js/elements.js";
import { fillSelect, numbered, select } from "../../../kit/js/lists.js";
import { change } from "../../../kit/js/store.js";
import { createTip } from "../../../kit/js/tip.js";
import { watchMap } from "./map.js";
import { watchWords } from "./words.js";

const MEAN = "mean";
const siteChoice = (text) => (text === MEAN ? MEAN : Number(text));

export function buildShell(app) {
  const { parts } = app;
  app.root.replaceChildren(wordsPane(parts), mapPane(app, parts), alternativesPane(parts));
  watchWords(app);
  watchMap(app);
}

function wordsPane(parts) {
  parts.state = element("span", { class: "quiet", role: "status" });
  parts.words = element("div", {
    class: "words",
    role: "group",
    tabindex: "0",
    "aria-label": "Conversation and reply",
  });
  return element(
    "section",
    { class: "pane words-pane", "aria-label": "Reply" },
    element("header", { class: "spread" }, element("h2", {}, termNode("Reply")), parts.state),
    parts.words,
  );
}

function mapPane(app, parts) {
  parts.layer = select("Layer", { control: "layer", onchoose: (text) => change(app, { layer: siteChoice(text) }) });
  parts.head = select("Head", { control: "head", onchoose: (text) => change(app, { head: siteChoice(text) }) });
  parts.map = element("canvas", { role: "img", class: "map" });
  parts.tip = createTip(app);
  parts.mapBox = element("div", { class: "map-box" }, parts.map, parts.tip);
  parts.scale = element("p", {
    class: "quiet small",
    text: "A row for each token, the newest at the bottom. Colours go from 0 to the row’s largest weight, the first token left out.",
  });
  return element(
    "section",
    { class: "pane map-pane", "aria-label": "Attention" },
    element(
      "header",
      { class: "spread" },
      element("h2", { text: "Attention" }),
      element("div", { class: "tools" }, parts.layer.node, parts.head.node),
    ),
    parts.mapBox,
    parts.scale,
  );
}

function alternativesPane(parts) {
  parts.place = element("p", { class: "quiet" });
  parts.alternatives = element("ol", { class: "alternatives", "aria-label": "Alternatives of this token" });
  parts.looked = element("p", { class: "quiet small" });
  return element(
    "section",
    { class: "pane alternatives-pane", "aria-label": "Alternatives" },
    element("h2", {}, termNode("Alternatives")),
    parts.place,
    parts.alternatives,
    parts.looked,
  );
}

export function fillSites({ parts, payload, view }) {
  const [layers, heads] = payload.header.shape;
  const all = [[MEAN, "mean"]];
  fillSelect(parts.layer, [...all, ...numbered(layers, "L")], String(view.layer));
  fillSelect(parts.head, [...all, ...numbered(heads, "H")], String(view.head));
}
