// The text as tokens, with its spans as named bands. Dragging over tokens makes a span; so do a click on its first and one
// on its last token, and the keyboard.

import { clamp } from "../../kit/js/cells.js";
import { element, showWithin } from "../../kit/js/elements.js";
import { announce } from "../../kit/js/live_region.js";
import { change } from "../../kit/js/store.js";
import { entryText } from "../../kit/js/tokens/entries.js";
import { spanColour } from "./colours.js";
import { openSpan } from "./editor.js";
import { withSpan, withoutSpan, writeSpans } from "./notation.js";

export function tokensBox(app) {
  const box = element("div", {
    class: "span-tokens",
    role: "listbox",
    "aria-label": "Tokens of the text",
    "aria-multiselectable": "true",
  });
  Object.assign(app, { at: 0, selection: null, pending: null });
  box.onpointerdown = (event) => begin(app, event);
  box.onpointermove = (event) => drag(app, event);
  box.onpointerup = (event) => end(app, event);
  box.onpointercancel = () => select(app, null);
  box.onkeydown = (event) => pressed(app, event);
  app.parts.tokens = box;
  return box;
}

// The spans that were drawn by hand a moment ago, until Python's numbers of them are here.
export const shownSpans = ({ edited, view, payload: { header } }) =>
  edited && edited.text === view.spans && header.asked.spans !== view.spans ? edited.spans : header.spans;

export function setSpans(app, spans) {
  app.edited = { spans, text: writeSpans(spans) };
  change(app, { spans: app.edited.text });
}

const canEdit = (app) => !app.lacks.has("spans");

function tokenAt(app, { clientX, clientY }) {
  const node = app.root.getRootNode().elementFromPoint(clientX, clientY)?.closest?.("[data-at]");
  return node && app.parts.tokens.contains(node) ? Number(node.dataset.at) : null;
}

function begin(app, event) {
  const name = event.target.closest(".band-name");
  if (name) return openSpan(app, Number(name.dataset.span));
  const at = tokenAt(app, event);
  if (at === null || event.button !== 0 || !canEdit(app)) return;
  app.dragged = at;
  app.at = at;
  select(app, [at, at]);
}

function drag(app, event) {
  if (app.dragged === undefined || app.dragged === null) return;
  if (event.pointerType === "mouse" && !event.buttons) return end(app, event); // it was let go outside
  const at = tokenAt(app, event);
  if (at !== null && at !== app.selection?.[1]) select(app, [app.dragged, at]);
}

function end(app) {
  const { dragged, selection, pending } = app;
  app.dragged = null;
  if (dragged === undefined || dragged === null || !selection) return;
  const [from, to] = selection;
  if (from !== to) return make(app, from, to);
  if (pending !== null) return make(app, pending, to);
  app.pending = to;
  paintSelection(app);
}

function select(app, selection) {
  app.selection = selection;
  if (!selection) app.pending = app.dragged = null;
  paintSelection(app);
}

function make(app, one, other) {
  const [start, last] = one < other ? [one, other] : [other, one];
  app.selection = app.pending = null;
  const { spans, made } = withSpan(shownSpans(app), start, last + 1);
  setSpans(app, spans);
  openSpan(
    app,
    spans.findIndex((span) => span.start === start),
  );
  announce(app, `${made.name}: tokens ${start} to ${last}`);
}

function pressed(app, event) {
  const count = app.payload.header.tokens.length;
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
  const walk = (to) => {
    const from = event.shiftKey && canEdit(app) ? (app.selection?.[0] ?? app.at) : null;
    app.at = clamp(to, 0, count - 1);
    select(app, from === null ? null : [from, app.at]);
    app.parts.tokens.querySelector(`[data-at="${app.at}"]`).focus({ preventScroll: true });
  };
  const actions = {
    Home: () => walk(0),
    End: () => walk(count - 1),
    Enter: canEdit(app) && (() => make(app, app.pending ?? app.selection?.[0] ?? app.at, app.at)),
    Delete: canEdit(app) && (() => removeAt(app)),
    Backspace: canEdit(app) && (() => removeAt(app)),
    Escape: (app.selection || app.pending !== null) && (() => select(app, null)),
  };
  const act = step ? () => walk(app.at + step) : actions[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

function removeAt(app) {
  const spans = shownSpans(app);
  const at = spans.findIndex(({ start, end: after }) => start <= app.at && app.at < after);
  if (at >= 0 && spans.length > 1) setSpans(app, withoutSpan(spans, at));
}

export function paintTokens(app) {
  const { header } = app.payload;
  const spans = shownSpans(app);
  const key = JSON.stringify([header.base, spans, header.answer, app.theme.name]);
  if (app.tokensKey !== key) {
    app.tokensKey = key;
    app.at = clamp(app.at, 0, header.tokens.length - 1);
    const hadFocus = app.parts.tokens.contains(app.root.getRootNode().activeElement);
    app.parts.tokens.replaceChildren(...nodesOf(app, spans));
    if (hadFocus) app.parts.tokens.querySelector(`[data-at="${app.at}"]`)?.focus({ preventScroll: true });
  }
  paintSelection(app);
}

function nodesOf(app, spans) {
  const { header } = app.payload;
  const [special, joined] = [header.special, header.joined].map((positions) => new Set(positions));
  const [start, after] = header.answer;
  let at = 0;
  return header.tokens.flatMap((text, position) => {
    while (spans[at] && position >= spans[at].end) at += 1;
    const isIn = spans[at] && position >= spans[at].start;
    const look = isIn ? `--band:${spanColour(app, at)}` : null;
    const node = element("span", {
      class: tokenClass({
        isIn,
        isSpecial: special.has(position),
        isJoined: joined.has(position),
        isAnswer: position >= start && position < after,
      }),
      role: "option",
      "data-at": position,
      style: look,
      dir: "auto",
      text,
      title: [`#${position}`, entryText(header.entries[position])].filter(Boolean).join(", "),
    });
    if (!isIn || position !== spans[at].start) return [node];
    const { name } = spans[at];
    return [
      element("span", { class: "band-name", "data-span": at, style: look, "aria-hidden": "true", text: name }),
      node,
    ];
  });
}

const tokenClass = ({ isIn, isSpecial, isJoined, isAnswer }) =>
  ["span-token", isIn && "in", isSpecial && "special", isJoined && "joined", isAnswer && "answer"]
    .filter(Boolean)
    .join(" ");

function paintSelection(app) {
  const { selection, pending } = app;
  const [low, high] = selection ? [Math.min(...selection), Math.max(...selection)] : [pending ?? 0, pending ?? -1];
  for (const node of app.parts.tokens.querySelectorAll("[data-at]")) {
    const at = Number(node.dataset.at);
    node.tabIndex = at === app.at ? 0 : -1;
    node.setAttribute("aria-selected", String(at >= low && at <= high));
    if (at === app.at && (selection || app.root.getRootNode().activeElement === node))
      showWithin(app.parts.tokens, node);
  }
  app.paintHint?.();
}
