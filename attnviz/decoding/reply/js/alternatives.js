// The likeliest tokens at the place in view. A click puts one there, and the reply is written on from it.

import { element, put } from "../../../kit/js/elements.js";
import { entryText, withEntry } from "../../../kit/js/tokens/entries.js";
import { exactText, isolated, percentText, siteName } from "../../../kit/js/text.js";
import { rowOf } from "./message.js";
import { fillSites } from "./shell.js";

const NAMED = 3; // keys that the row looks at most

export function paintAlternatives(app) {
  const { parts, text, at } = app;
  fillSites(app);
  const position = at - text.prompt;
  const list = text.alternatives[position] ?? [];
  const key = `${text.key}|${at}|${text.tokens[at]?.[3][1]}|${list.length}`;
  put(parts.looked, lookedAt(app));
  if (parts.listed === key) return;
  parts.listed = key;
  put(parts.place, placeText(text, position));
  parts.alternatives.replaceChildren(...list.map((one) => alternativeNode(app, position, one)));
}

const placeText = (text, position) =>
  position < 0
    ? "Nothing is written yet."
    : `Token ${position + 1} of the reply${text.taken[position] ? ", chosen by hand" : ""}. Choose another token, and the reply continues from that token.`;

// A temperature or a cut makes a token be drawn more or less often than the model finds it likely.
const isDrawnOtherwise = (probability, drawn) => Math.abs(drawn - probability) >= 1e-6;

function alternativeNode(app, position, [word, probability, drawn, id, piece]) {
  const isWritten = app.text.tokens[app.text.prompt + position][3][1] === id;
  const drawnText = isDrawnOtherwise(probability, drawn) ? `, drawn with ${exactText(drawn)}` : "";
  const said = withEntry(`probability ${exactText(probability)}${drawnText}`, entryText([[piece ?? "", id]]));
  const track = element(
    "span",
    { class: "track" },
    element("i", { style: `width:${(100 * probability).toFixed(2)}%` }),
  );
  if (drawnText) track.append(element("b", { style: `left:${(100 * drawn).toFixed(2)}%` }));
  const choice = element(
    "button",
    {
      type: "button",
      class: `alternative${drawn === 0 && probability > 0 ? " cut" : ""}`,
      "data-control": "take",
      "aria-pressed": String(isWritten),
      disabled: isWritten,
      title: said,
      onclick: () => app.host.report("take", { position, id, at: performance.now() }),
    },
    element("span", { class: "candidate", text: word }),
    track,
    element("span", { class: "number", text: percentText(probability) }),
    element("span", { class: "mark", text: isWritten ? "✓" : "" }),
  );
  return element("li", {}, choice);
}

function lookedAt({ text, at, view }) {
  const row = rowOf(text, at);
  if (!row) return "";
  const keys = [...row.keys()].sort((one, other) => row[other] - row[one]).slice(0, NAMED);
  const named = keys.map((key) => `${isolated(text.tokens[key][0])} (${percentText(row[key])})`);
  return `${siteName(view.layer, view.head)}: it looked most at ${named.join(", ")}.`;
}
