// The component's fixed parts, and how all of it is painted.

import { toggleHelp, helpPane } from "../../kit/js/base/help.js";
import { watchKeys } from "../../kit/js/base/keys.js";
import { picturePane, pane } from "../../kit/js/base/pane.js";
import { choices, paintChoices } from "../../kit/js/base/parts.js";
import { clamp } from "../../kit/js/cells.js";
import { explained } from "../../kit/js/definitions.js";
import { button, element, put } from "../../kit/js/elements.js";
import { fillSelect, numbered, select } from "../../kit/js/lists.js";
import { announce } from "../../kit/js/live_region.js";
import { canvasPen, sharpContext } from "../../kit/js/pens/canvas_pen.js";
import { pointIn, tellPainted } from "../../kit/js/resize.js";
import { change } from "../../kit/js/store.js";
import { isolated, percentText, siteName } from "../../kit/js/text.js";
import { hideTip, placeInWindow, windowTip } from "../../kit/js/tip.js";
import { barAt, layoutBars, paintBars } from "./bars.js";
import { answerText, isComputing } from "./choice.js";
import { editorLine, paintEditor } from "./editor.js";
import { notesOf } from "./figure.js";
import { listPane, paintList } from "./list.js";
import { cellAt, layoutMap, paintMap } from "./map.js";
import { paintTokens, setSpans, shownSpans, tokensBox } from "./tokens.js";

const KEYS = [
  ["← →", "walk the answer’s tokens"],
  ["Esc", "all of the answer again"],
  ["Shift + ← →, Enter", "in the text: choose tokens, and make them a span", "spans"],
  ["Delete", "in the text: remove the span there", "spans"],
  ["n", "shares for each token of a span"],
  ["s", "the first token shown or left out"],
  ["?", "these keys and words"],
];
const WORDS = ["Spans", "Span", "Spans by", "Answer span", "Sink", "Per token", "Hide each span"];
const TOOLS = { shown: shownSpans, set: setSpans };

export function buildShell(app) {
  app.root.replaceChildren(textPane(app), drawnPanes(app), listPane(app), helpPane(app, KEYS, WORDS));
  app.parts.nodeTip = windowTip(app);
  watchKeys(app, actionOf);
}

function textPane(app) {
  const { parts } = app;
  parts.rule = select("Spans by", {
    control: "spans",
    onchoose: (rule) => rule && change(app, { spans: `rule:${rule}` }),
  });
  parts.answer = select("Answer span", {
    control: "answer",
    onchoose: (answer) => change(app, { answer, focus: null }),
  });
  parts.layer = select("Layer", { onchoose: (at) => change(app, { layer: siteOfText(at) }) });
  parts.head = select("Head", { onchoose: (at) => change(app, { head: siteOfText(at) }) });
  parts.perToken = explained(button("Per token", { onclick: () => toggle(app, "per_token") }), "Per token", "n");
  parts.sink = explained(button("First token", { onclick: () => toggle(app, "first") }), "First token", "s");
  const lists = [parts.rule, parts.answer, parts.layer, parts.head].map(({ node }) => node);
  const tools = [...lists, choices(app, "shares"), parts.perToken, parts.sink];
  const head = { label: "Text and spans", className: "text-pane", tools, hasHelp: true };
  return picturePane(app, head, tokensBox(app), editorLine(app, TOOLS));
}

const siteOfText = (text) => (text === "mean" ? text : Number(text));
const toggle = (app, name) => change(app, { [name]: !app.view[name] });

function drawnPanes(app) {
  const { parts } = app;
  parts.bars = element("canvas", { role: "img" });
  parts.barsBox = element(
    "div",
    { class: "scrolls", tabindex: "0", role: "group", "aria-label": "Shares of the answer’s tokens" },
    parts.bars,
  );
  parts.bars.onclick = (event) => chooseBar(app, event);
  parts.bars.onpointermove = (event) => pointAtBar(app, event);
  parts.map = element("canvas", { role: "img" });
  parts.mapBox = element(
    "div",
    { class: "scrolls", tabindex: "0", role: "group", "aria-label": "Shares between spans" },
    parts.map,
  );
  parts.map.onpointermove = (event) => pointAtMap(app, event);
  for (const canvas of [parts.bars, parts.map]) canvas.onpointerleave = () => hideTip(parts.nodeTip);
  parts.note = element("footer", { class: "quiet" });
  const title = (text) => [element("h2", { text })];
  return element(
    "div",
    { class: "drawn" },
    pane(
      { label: "The answer’s tokens", className: "bars-pane", head: [(parts.barsTitle = element("h2"))] },
      parts.barsBox,
      parts.note,
    ),
    pane({ label: "Span by span", className: "map-pane", head: title("Span by span") }, parts.mapBox),
  );
}

export function paint(app, began) {
  const { parts, payload, view } = app;
  paintChoices(app);
  paintLists(app);
  const answer = answerText(payload.header);
  put(parts.title, `Spans of decoder self-attention, ${siteName(view.layer, view.head)}`);
  put(parts.question, isComputing(app) ? "Computing …" : `which part of the text ${answer} looks at`);
  put(parts.barsTitle, answer === "the answer" ? "Each token of the answer" : `What ${answer} looks at`);
  paintTokens(app);
  paintEditor(app, TOOLS);
  const told = paintList(app);
  put(parts.note, notesOf(app).join(" · "));
  paintCanvases(app);
  parts.bars.setAttribute("aria-label", told);
  parts.map.setAttribute("aria-label", `Shares between ${payload.header.spans.length} spans`);
  announce(app, told);
  tellPainted(app, began);
}

function paintLists({ parts, payload, view }) {
  const { header } = payload;
  const { rule, rules, why_no_norm: whyNoNorm } = header.facts;
  const isByHand = view.spans !== "" && !view.spans.startsWith("rule:");
  const asked = isByHand ? "" : view.spans.slice(5) || rule;
  fillSelect(
    parts.rule,
    [...Object.entries(rules).map(([name, [title]]) => [name, title]), ...(asked ? [] : [["", "Your own"]])],
    asked,
  );
  for (const option of parts.rule.list.options) {
    option.disabled = Boolean(rules[option.value]?.[1]);
    option.title = rules[option.value]?.[1] ?? "";
  }
  fillSelect(parts.answer, answersOf(header, view), view.answer);
  fillSelect(parts.layer, [["mean", "mean"], ...numbered(header.layers, "L")], String(view.layer));
  fillSelect(parts.head, [["mean", "mean"], ...numbered(header.heads, "H")], String(view.head));
  parts.perToken.setAttribute("aria-pressed", String(Boolean(view.per_token)));
  parts.sink.setAttribute("aria-pressed", String(Boolean(view.first)));
  parts.perToken.disabled = false;
  for (const node of parts.rule.node.parentElement.querySelectorAll("[data-value='norm']")) {
    node.disabled = Boolean(whyNoNorm) && view.shares !== "norm";
    node.title = whyNoNorm;
  }
}

function answersOf({ spans, answer }, view) {
  const places = spans.filter(({ start }) => start > 0).map(({ name, start, end }) => [`${start}-${end}`, name]);
  const isOther = view.answer && !places.some(([place]) => place === view.answer);
  return [["", "automatic"], ...places, ...(isOther ? [[view.answer, `tokens ${answer[0]} to ${answer[1] - 1}`]] : [])];
}

function paintCanvases(app) {
  const { parts } = app;
  for (const [name, layoutOf, draw] of [
    ["bars", layoutBars, paintBars],
    ["map", layoutMap, paintMap],
  ]) {
    const box = parts[`${name}Box`];
    const layout = layoutOf(app, [Math.max(220, box.clientWidth - 2), Math.max(200, box.clientHeight - 2)]);
    app[`${name}Layout`] = layout;
    draw(app, canvasPen(sharpContext(parts[name], [layout.width, layout.height]), app.theme), layout);
  }
}

function chooseBar(app, event) {
  const found = barAt(app, app.barsLayout, pointIn(app.parts.bars, event));
  if (found) change(app, { focus: app.view.focus === found[0] ? null : found[0] });
}

function pointAtBar(app, event) {
  const found = barAt(app, app.barsLayout, pointIn(app.parts.bars, event));
  if (!found) return hideTip(app.parts.nodeTip);
  const [position, part] = found;
  const { header } = app.payload;
  const lines = [
    element(
      "div",
      {},
      element("bdi", { text: header.tokens[position] }),
      element("span", { class: "tip-at", text: ` #${position}` }),
    ),
  ];
  if (part) lines.push(...shareLines(header.columns[part.column], part.share));
  showTip(app, event, lines);
}

function pointAtMap(app, event) {
  const found = cellAt(app, app.mapLayout, pointIn(app.parts.map, event));
  if (!found) return hideTip(app.parts.nodeTip);
  const [row, column] = found;
  const { header } = app.payload;
  const name = `${isolated(header.spans[row].name)} → ${isolated(header.columns[column])}`;
  showTip(app, event, shareLines(name, app.mapLayout.rows[row][column]));
}

const shareLines = (name, share) => [
  element("div", { class: "tip-at" }, element("bdi", { text: name })),
  element("b", { class: "tip-value", text: percentText(share) }),
];

function showTip(app, event, lines) {
  app.parts.nodeTip.replaceChildren(...lines);
  placeInWindow(app.parts.nodeTip, event);
}

function actionOf(app, event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const { help } = app.parts;
  const actions = {
    ArrowRight: () => walk(app, 1),
    ArrowLeft: () => walk(app, -1),
    n: () => toggle(app, "per_token"),
    s: () => toggle(app, "first"),
    "?": () => toggleHelp(app),
    Escape: !help.hidden ? () => toggleHelp(app) : app.view.focus === null ? null : () => change(app, { focus: null }),
  };
  return actions[key] ?? null;
}

function walk(app, step) {
  const [start, end] = app.payload.header.answer;
  const first = step > 0 ? start : end - 1;
  const { focus } = app.view;
  change(app, { focus: focus === null ? first : clamp(focus + step, start, end - 1) });
}
