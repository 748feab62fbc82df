// What the model outputs, such as its text and the probability of each token, with all heads and without those that are off; dimmed while Python answers.

import { termNode } from "../../../kit/js/definitions.js";
import { element } from "../../../kit/js/elements.js";
import { percentTexts } from "../../../kit/js/text.js";
import { entryText } from "../../../kit/js/tokens/entries.js";
import { isAnswered } from "./choice.js";

const TINY = 1e-4;

export function paintAnswer(app) {
  const { parts, payload } = app;
  const { header } = payload;
  const waits = !isAnswered(app);
  for (const part of [parts.words, parts.many, parts.strip, parts.moved]) part.toggleAttribute("data-waits", waits);
  paintCount(app, waits);
  if (app.answerKey === header.base) return;
  app.answerKey = header.base;
  parts.words.replaceChildren(...wordNodes(header));
  parts.said.replaceChildren(...header.said.map((text) => element("li", { text })));
  parts.many.replaceChildren(...manyNodes(header));
  parts.answerTitle.replaceChildren(termNode(header.answer_title));
  parts.strip.replaceChildren(...header.strip.map(tokenNode));
  parts.stripTitle.replaceChildren(...stripTitle(header));
  parts.fixed.replaceChildren(...header.fixed.map((text) => element("li", { text })));
}

// The same heads off, over many sentences: a button until it is counted, then the result.
function paintCount({ parts, payload, view }, waits) {
  const { countable, many } = payload.header;
  parts.countIt.hidden = waits || !countable || many.length > 0;
  parts.countIt.disabled = view.count;
  parts.countIt.textContent = view.count ? "Counting …" : `Count on ${countable} sentences`;
}

function manyNodes({ many }) {
  const [first, ...rest] = many;
  if (first === undefined) return [];
  const title = element("b", { text: "Over many sentences. " });
  return [element("li", {}, title, first), ...rest.map((text) => element("li", { text }))];
}

function wordNodes({ texts, more }) {
  const also = more.length
    ? [element("p", { class: "quiet", text: `Also changed in the run: ${more.join("; ")}` })]
    : [];
  if (!texts) return also;
  const line = (name, runs) =>
    element(
      "p",
      { class: "written" },
      element("span", { class: "quiet", text: name }),
      element("bdi", {}, ...runs.map(([text, differs]) => (differs ? element("mark", { text }) : text))),
    );
  const isSame = !texts.some((runs) => runs.some(([, differs]) => differs));
  const lines = [line("unchanged", texts[0]), line("now", texts[1])];
  return [...lines, ...(isSame ? [element("p", { class: "quiet", text: "The same words." })] : []), ...also];
}

function stripTitle({ strip, asks, strip_title }) {
  if (!strip.length) return [element("span", { class: "quiet", text: asks })];
  return [
    termNode(strip_title),
    element("span", { class: "quiet", text: ` ${asks}: above unchanged, below now; how far ahead it is now (nats)` }),
  ];
}

// Two chances that are both tiny read the same: how far each is behind says more.
export const chancesText = ({ chance }) =>
  (chance.every((one) => one !== null && one < TINY) ? chance.map(() => "<0.01%") : percentTexts(...chance)).join(
    " → ",
  );

export const marginText = ({ margin, rival }, at) =>
  margin[at] === null
    ? "NaN"
    : `${margin[at] >= 0 ? "ahead of" : "behind"} ${rival[at]} by ${Math.abs(margin[at]).toFixed(2)}`;

function tokenNode(token) {
  const bar = (at) =>
    element(
      "span",
      { class: "chance-track" },
      element("span", { class: at ? "chance now" : "chance", style: `width:${100 * (token.chance[at] ?? 0)}%` }),
    );
  const moved = token.chance[0] !== token.chance[1];
  const node = element(
    "li",
    { class: moved ? "" : "same" },
    element("bdi", { class: token.special ? "strip-token quiet" : "strip-token", text: token.text }),
    element("span", { class: "chances" }, bar(0), bar(1)),
    element("span", { class: "strip-number", text: chancesText(token) }),
    element("span", { class: "strip-margin quiet", text: marginText(token, 1) }),
  );
  node.title = [
    token.text,
    entryText(token.entry ? [token.entry] : []),
    `as it is ${token.log[0]?.toFixed(4)} nats, ${marginText(token, 0)}`,
    `now ${token.log[1]?.toFixed(4)} nats, ${marginText(token, 1)}`,
  ]
    .filter(Boolean)
    .join("\n");
  return node;
}
