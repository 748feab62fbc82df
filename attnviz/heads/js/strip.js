// The sentences on top: the keys that the active row looks at are shaded, the row's own token is ringed.

import { element } from "../../kit/js/elements.js";
import { markToken, withNames } from "../../kit/js/spans/nodes.js";
import { entryText, withEntry } from "../../kit/js/tokens/entries.js";
import { exactText } from "../../kit/js/text.js";
import { colourAt, css, luminance, scaleOf, stepOf } from "../../kit/js/theme.js";
import { choose } from "./choice.js";
import { isTileCovered } from "./covers.js";
import { rangeOf } from "./map/tiles.js";

export function paintStrip(app, subject) {
  const { lines } = app.payload.header.strip;
  const node = app.parts.strip;
  if (node.dataset.drawn !== app.payload.header.base) {
    node.dataset.drawn = app.payload.header.base;
    app.entryOf = new Map();
    app.tokens = lines.map((line) => line.tokens.map((token) => tokenNode(app, token)));
    node.replaceChildren(...lines.map((line, i) => lineNode(line, app.tokens[i])));
    node.onclick = (event) => chooseToken(app, event.target);
    node.onpointerover = (event) => nameWeight(app, event.target);
    app.shaded = [];
  }
  for (const token of app.shaded) clearToken(token);
  app.shaded = [];
  app.queried = null;
  markAsking(app);
  app.weightOf = new Map();
  if (subject.row === null || !axesOf(app, subject.tile.kind.kind)) return;
  shadeKeys(app, subject);
  markQuery(app, subject);
}

function tokenNode(app, [text, special, entry]) {
  const node = element("span", { class: special ? "token special" : "token", text, dir: "auto" });
  app.entryOf.set(node, entryText(entry));
  return node;
}

function lineNode({ name, spans }, tokens) {
  tokens.forEach((token, at) => markToken(token, spans, at));
  return element(
    "div",
    { class: "line" },
    element("span", { class: "line-name", text: name }),
    element("div", { class: "tokens" }, ...withNames(tokens, spans)),
  );
}

function clearToken(token) {
  token.style.background = token.style.color = "";
  token.classList.remove("queried");
}

// A token's weight is written out when it is pointed at: writing all of a long sentence's takes a frame.
export function nameWeight(app, token) {
  if (!token?.classList.contains("token")) return;
  app.pointedToken = token;
  const weight = app.weightOf.get(token);
  token.title = withEntry(weight === undefined ? "" : exactText(weight), app.entryOf.get(token));
}

// The tokens of the line that asks can be clicked.
function markAsking(app) {
  app.queryLine = axesOf(app, app.view.kind)?.query;
  const asks = app.queryLine?.[0];
  app.parts.strip.querySelectorAll(".line").forEach((line, i) => line.classList.toggle("asks", i === asks));
}

const axesOf = (app, kind) => app.payload.header.strip.axes?.[kind];

function markQuery(app, { tile: { kind }, row }) {
  const axis = axesOf(app, kind.kind);
  const nodes = kind.rowTokens[row].map((token) => touched(app, axis.query, token)).filter(Boolean);
  for (const node of nodes) node.classList.add("queried");
  app.queried = nodes[0];
}

// A long sentence scrolls in its own line; scrollIntoView would move the page too. Short ones have nothing to scroll.
// Asked after all else is painted, for it makes the browser lay out what has changed.
export function bringIntoView(token) {
  const line = token?.parentElement;
  if (!line || line.childElementCount < 24 || line.scrollHeight <= line.clientHeight) return;
  const { offsetTop, offsetHeight } = token;
  if (offsetTop < line.scrollTop || offsetTop + offsetHeight > line.scrollTop + line.clientHeight)
    line.scrollTop = offsetTop - 2;
}

function touched(app, [line, offset], token) {
  const node = app.tokens[line]?.[token + offset];
  if (node) app.shaded.push(node);
  return node;
}

function shadeKeys(app, { tile, row }) {
  const { kind, map, signed } = tile;
  if (isTileCovered(tile, row)) return;
  const axis = axesOf(app, kind.kind);
  const scale = scaleOf(app, signed ? "diverging" : "sequential");
  const range = tile.range ?? rangeOf(app, [tile]);
  for (let col = 0; col < kind.nCols; col++) {
    const weight = map.data[row * kind.nCols + col];
    for (const token of kind.colTokens[col]) {
      app.weightOf.set(app.tokens[axis.key[0]]?.[token + axis.key[1]], weight);
      // A fainter shade would not be seen, and the text keeps its own colour.
      if (Math.abs(weight) >= 0.03 * range.high) shadeToken(touched(app, axis.key, token), { weight, range, scale });
    }
  }
}

function shadeToken(node, { weight, range: { low, high }, scale }) {
  if (!node) return;
  const rgb = colourAt(scale, stepOf(weight, low, high));
  node.style.background = css(rgb);
  node.style.color = luminance(rgb) > 0.48 ? "#14141f" : "#ffffff";
}

function chooseToken(app, target) {
  const [line, offset] = app.queryLine ?? [];
  const at = app.tokens[line]?.indexOf(target) ?? -1;
  if (at < 0) return;
  const { rowTokens } = app.payload.kinds.get(app.view.kind);
  const row = rowTokens.findIndex((tokens) => tokens.includes(at - offset));
  if (row >= 0) choose(app, { row: row === app.view.row ? null : row });
}
