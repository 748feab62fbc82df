// The line below the text: what can be done with the span that was made or clicked, or how to make one.

import { button, element, put } from "../../kit/js/elements.js";
import { change } from "../../kit/js/store.js";
import { renamed, withoutSpan } from "./notation.js";

const PURPOSE =
  "Spans are parts of the text that the model writes, here its sentences: see which of them each token looks at. For a " +
  "chat model they are the turns of a conversation.";
const HINT = "Drag over tokens to make a span, or click its first token and its last.";
const PENDING = "Click the span’s last token, or this one again for a span of one token.";
const FIXED =
  "You can choose other spans and answers only if Python is running. Open this picture in attnviz, or draw it in a running notebook.";

// `tools` are what the text's pane has for spans: shown(app) and set(app, spans).
export function editorLine(app, tools) {
  const { parts } = app;
  parts.hint = element("span", { class: "quiet" });
  parts.name = element("input", { type: "text", maxlength: 60, "aria-label": "Name of the span", dir: "auto" });
  parts.name.onchange = () => rename(app, tools);
  parts.name.onkeydown = (event) => typed(app, event, tools);
  const act = (text, what) => button(text, { onclick: what });
  parts.takeAnswer = act("Take as the answer", () => takeAsAnswer(app, tools));
  parts.removeSpan = act("Remove", () => remove(app, tools));
  parts.edits = element(
    "span",
    { class: "tools", "data-control": "spans" },
    element("label", { class: "pick name" }, element("span", { text: "Span" }), parts.name),
    parts.takeAnswer,
    parts.removeSpan,
    act("Done", () => close(app)),
  );
  app.opened = null;
  app.paintHint = () => paintEditor(app, tools);
  return element("div", { class: "editor" }, parts.hint, parts.edits);
}

export function openSpan(app, at) {
  if (app.lacks.has("spans")) return;
  app.opened = at;
  app.paintHint();
  if (!matchMedia("(pointer: coarse)").matches) {
    // The pointer's own focus comes after this.
    setTimeout(() => {
      app.parts.name.focus({ preventScroll: true });
      app.parts.name.select();
    });
  }
}

function close(app) {
  app.opened = null;
  app.paintHint();
  app.parts.tokens.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
}

function typed(app, event, tools) {
  event.stopPropagation();
  if (event.key === "Enter") {
    rename(app, tools);
    close(app);
  } else if (event.key === "Escape") {
    app.parts.name.value = tools.shown(app)[app.opened]?.name ?? "";
    close(app);
  }
}

function rename(app, tools) {
  const spans = tools.shown(app);
  if (!spans[app.opened]) return;
  const named = renamed(spans, app.opened, app.parts.name.value);
  if (named !== spans) tools.set(app, named);
}

function remove(app, tools) {
  const spans = withoutSpan(tools.shown(app), app.opened);
  close(app);
  if (spans.length) tools.set(app, spans);
}

function takeAsAnswer(app, tools) {
  const { start, end } = tools.shown(app)[app.opened];
  close(app);
  change(app, { answer: `${Math.max(1, start)}-${end}`, focus: null });
}

export function paintEditor(app, tools) {
  const { parts } = app;
  if (!app.payload || !app.view) return;
  const spans = tools.shown(app);
  const span = app.opened === null ? null : spans[app.opened];
  if (!span) app.opened = null;
  parts.edits.hidden = !span;
  parts.hint.hidden = Boolean(span);
  const hint = app.lacks.has("spans") ? FIXED : app.pending !== null ? PENDING : HINT;
  put(parts.hint, app.payload.header.facts.is_conversation ? hint : `${PURPOSE} ${hint}`);
  if (!span) return;
  const key = `${app.opened} ${span.name}`;
  if (app.editorKey !== key) {
    app.editorKey = key;
    parts.name.value = span.name;
  }
  parts.removeSpan.disabled = spans.length < 2;
  parts.takeAnswer.disabled = span.end < 2;
}
