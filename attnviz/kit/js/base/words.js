// The words of a text as buttons: which step is asked about. A header has them as `steps`, and the one in view as `step`.

import { button, element, showWithin } from "../elements.js";
import { change } from "../store.js";
import { entryText, withEntry } from "../tokens/entries.js";

export function wordsPane(app, ...more) {
  app.parts.words = element("div", { class: "words", role: "group", "aria-label": "Step" });
  const asks = element("span", { class: "quiet", text: "Word" });
  return element(
    "section",
    { class: "pane words-pane", "aria-label": "Steps", "data-control": "step" },
    asks,
    app.parts.words,
    ...more,
  );
}

export const stepOfView = ({ view, payload }) => view.step ?? payload.header.step;

// `said(step)` is a text for its button's bubble; a step with a `difference` is tinted by it.
export function paintWords(app, said) {
  const { header } = app.payload;
  const now = stepOfView(app);
  const key = JSON.stringify([header.id, now]);
  if (app.wordsKey === key) return;
  app.wordsKey = key;
  const node = (one) =>
    button(one.output || one.input, {
      "aria-pressed": String(one.step === now),
      style: `--apart:${(one.difference ?? 0).toFixed(3)}`,
      title: withEntry(`step ${one.step}, after ${one.input}${said(one)}`, entryText(one.entries)),
      onclick: () => change(app, { step: one.step }),
    });
  const { words } = app.parts;
  words.replaceChildren(...header.steps.map(node));
  const pressed = words.querySelector("[aria-pressed=true]");
  if (pressed) showWithin(words, pressed);
}
