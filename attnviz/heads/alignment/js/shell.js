// The component's fixed parts, and how all of it is painted.

import { picturePane } from "../../../kit/js/base/pane.js";
import { choices, paintChoices } from "../../../kit/js/base/parts.js";
import { explained } from "../../../kit/js/definitions.js";
import { button, element, put } from "../../../kit/js/elements.js";
import { ARROWS, clamp } from "../../../kit/js/cells.js";
import { announce } from "../../../kit/js/live_region.js";
import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { pointIn, tellPainted } from "../../../kit/js/resize.js";
import { change } from "../../../kit/js/store.js";
import { exactText, isolated } from "../../../kit/js/text.js";
import { hideTip, placeInWindow, windowTip } from "../../../kit/js/tip.js";
import { entryLines } from "../../../kit/js/tokens/tip_lines.js";
import { entryText } from "../../../kit/js/tokens/entries.js";
import { linksOf, scoresOf, sharesOf, wayOf, wayText } from "./choice.js";
import { layoutOf, notesOf, paintPicture } from "./figure.js";
import { wordAt } from "./lines.js";
import { cellAt } from "./matrix.js";
import { paintWays, waysPane } from "./ways.js";

export function buildShell(app) {
  app.root.replaceChildren(alignmentPane(app), waysPane(app));
  app.parts.wordTip = windowTip(app);
}

function alignmentPane(app) {
  const { parts } = app;
  parts.canvas = element("canvas", { role: "img" });
  parts.canvas.onpointermove = (event) => pointAt(app, event);
  parts.canvas.onpointerdown = (event) => pointAt(app, event);
  parts.canvas.onpointerleave = () => look(app, null);
  parts.body = element("div", { class: "align-body", tabindex: "0", "aria-label": "The alignment" }, parts.canvas);
  parts.body.onkeydown = (event) => walkWords(app, event);
  parts.body.onblur = () => look(app, null);
  parts.links = element("p", { class: "links-told" });
  parts.note = element("footer", { class: "quiet" });
  const drawn = choices(app, "drawn");
  parts.null = toggle(app, "null", "No source");
  parts.gold = toggle(app, "gold", "By hand");
  const tools = [drawn, parts.null, parts.gold];
  return picturePane(app, { label: "Alignment", tools }, parts.body, parts.links, parts.note);
}

const toggle = (app, name, text) =>
  explained(button(text, { "data-toggle": name, onclick: () => change(app, { [name]: !app.view[name] }) }), text);

export function paint(app, began) {
  const { parts, payload, view } = app;
  const { header } = payload;
  paintChoices(app);
  parts.null.setAttribute("aria-pressed", String(view.null));
  parts.gold.setAttribute("aria-pressed", String(view.gold && header.gold !== null));
  parts.gold.disabled = !header.gold;
  put(parts.title, `Words by ${wayText(wayOf(app))}`);
  put(parts.question, errorText(app));
  const told = linksTold(app);
  put(parts.links, told);
  put(parts.note, notesOf(app).join(" · "));
  paintWays(app);
  paintCanvas(app); // last: what is written takes room, too
  parts.canvas.setAttribute("aria-label", `${parts.title.textContent}: ${told}`);
  announce(app, `${parts.title.textContent}. ${parts.question.textContent}`);
  tellPainted(app, began);
}

function errorText({ payload, view }) {
  const { errors, language } = payload.header;
  const error = errors[view.null ? "null" : "all"];
  const target = language ? `the ${language} word` : "the target word";
  return error === null
    ? `which source word ${target} comes from`
    : `which source word ${target} comes from: alignment error of this sentence ${error.toFixed(3)}`;
}

function paintCanvas(app) {
  const { parts, view } = app;
  app.layout = layoutOf(app, [parts.body.clientWidth - 2, parts.body.clientHeight - 4]);
  const size = [Math.ceil(app.layout.width), Math.ceil(app.layout.height)];
  const key = JSON.stringify([
    app.payload.header.id,
    app.theme.key,
    view.drawn,
    view.null,
    view.gold,
    app.active,
    size,
  ]);
  if (app.paintedKey === key) return;
  app.paintedKey = key;
  paintPicture(app, canvasPen(sharpContext(parts.canvas, size), app.theme), app.layout);
}

function linksTold(app) {
  const { src, tgt } = app.payload.header;
  const links = linksOf(app).toSorted(([, one], [, other]) => one - other);
  const told = links.slice(0, 60).map(([s, t]) => `${isolated(tgt[t])} ← ${isolated(src[s])}`);
  return told.join(", ") + (links.length > 60 ? ` and ${links.length - 60} more` : "") || "No word has a link.";
}

function pointAt(app, event) {
  const at = pointIn(app.parts.canvas, event);
  if (app.view.drawn === "matrix") {
    const cell = cellAt(app, app.layout, at);
    return cell ? showTip(app, event, cellLines(app, cell)) : look(app, null);
  }
  const word = wordAt(app.layout, at);
  look(app, word);
  if (word) showTip(app, event, wordLines(app, word));
}

// Left and right walk a line, up and down change it: only the ribbons of the word that is looked at stay.
function walkWords(app, event) {
  const step = ARROWS[event.key];
  if (!step || app.view.drawn === "matrix") return;
  event.preventDefault();
  const [side, at] = app.active ?? ["tgt", -step[1]];
  const next = step[0] ? (step[0] < 0 ? "src" : "tgt") : side;
  const word = [next, clamp(at + step[1], 0, app.layout[next].length - 1)];
  look(app, word);
  const box = app.layout[next][word[1]];
  app.parts.body.scrollLeft = box.x + box.w / 2 - app.parts.body.clientWidth / 2;
  announce(
    app,
    wordLines(app, word)
      .map((node) => node.textContent)
      .join(", "),
  );
}

function look(app, active) {
  if (!active) hideTip(app.parts.wordTip);
  if (JSON.stringify(active) === JSON.stringify(app.active ?? null)) return;
  app.active = active;
  paintCanvas(app);
}

function showTip(app, event, lines) {
  app.parts.wordTip.replaceChildren(...lines);
  placeInWindow(app.parts.wordTip, event);
}

const named = (text, more) =>
  element("div", {}, element("bdi", { text }), element("b", { class: "tip-value", text: ` ${more}` }));
const sourceName = ({ src, null_text: none }, at) => (at < src.length ? src[at] : `∅ ${none}`);

function cellLines(app, [tgt, src]) {
  const { header } = app.payload;
  return [
    element(
      "div",
      {},
      element("bdi", { text: header.tgt[tgt] }),
      ` ← `,
      element("bdi", { text: sourceName(header, src) }),
    ),
    element("b", { class: "tip-value", text: exactText(scoresOf(app, tgt)[src]) }),
  ];
}

// A word's largest shares, and what the vocabulary has for it.
function wordLines(app, [side, at]) {
  const { header } = app.payload;
  const shares =
    side === "tgt"
      ? [...sharesOf(scoresOf(app, at))].map((share, src) => [sourceName(header, src), share])
      : header.tgt.map((word, tgt) => [word, sharesOf(scoresOf(app, tgt))[at]]);
  const best = shares
    .sort((a, b) => b[1] - a[1])
    .slice(0, 5)
    .filter(([, share]) => share >= 0.005);
  const own = side === "tgt" ? header.tgt[at] : sourceName(header, at);
  return [
    element("div", {}, element("b", { text: own })),
    ...entryLines(entryText(header[`${side}_entries`][at] ?? [])),
    ...best.map(([text, share]) => named(text, `${(100 * share).toFixed(1)} %`)),
  ];
}
