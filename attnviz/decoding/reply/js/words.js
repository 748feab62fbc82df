// Prompt and reply as text, each turn in a block of its own; what the row in view looks at is shaded.

import { element, put, showWithin } from "../../../kit/js/elements.js";
import { change } from "../../../kit/js/store.js";
import { withEntry, entryText } from "../../../kit/js/tokens/entries.js";
import { peakOf, rowOf } from "./message.js";

const LINE_END = "↵";

export function paintWords(app) {
  const { parts, text, payload } = app;
  if (text.isOther || !parts.nodes) {
    parts.words.replaceChildren();
    parts.nodes = [];
    text.changed = 0;
    text.isOther = false;
  }
  const follows = isAtEnd(parts.words);
  for (const node of parts.nodes.splice(text.changed)) node.remove();
  for (const block of parts.words.querySelectorAll(".turn")) if (!block.querySelector(".token")) block.remove();
  for (let at = text.changed; at < text.tokens.length; at++) addWord(app, at);
  text.changed = text.tokens.length;
  if (follows) parts.words.scrollTop = parts.words.scrollHeight;
  put(parts.state, stateText(payload.header, text));
}

const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight > scrollHeight - 40;

function stateText({ ended, writing }, text) {
  const count = text.tokens.length - text.prompt;
  const tokens = `${count} ${count === 1 ? "token" : "tokens"}`;
  if (writing) return `${tokens}, being written`;
  return ended ? `${tokens}. ${ended}` : tokens;
}

function addWord(app, at) {
  const { parts, text } = app;
  const [word, startsWord, isSpecial, entry] = text.tokens[at];
  const isReply = at >= text.prompt;
  const isTaken = isReply && text.taken[at - text.prompt];
  const node = element("span", {
    class: `token${startsWord ? " starts" : ""}${isSpecial ? " special" : ""}${isReply ? " written" : ""}${isTaken ? " taken" : ""}${word.endsWith(LINE_END) ? " ends" : ""}`,
    text: word,
    "data-at": at,
    title: withEntry(isTaken ? "chosen by hand" : "", entryText([entry])),
  });
  blockOf(app, at).append(node);
  parts.nodes.push(node);
}

// The block that a token belongs to: a turn's, the template's between them, or the reply's.
function blockOf({ parts, text, payload }, at) {
  const span = payload.header.spans.find(({ start, end }) => start <= at && at < end);
  const name = at >= text.prompt ? "reply" : span ? span.name : payload.header.spans.length ? "template" : "prompt";
  const last = parts.words.lastElementChild;
  if (last?.dataset.name === name) return last;
  const block = element("div", { class: "turn", "data-name": name, "data-role": span?.role ?? name });
  block.append(element("span", { class: "who", text: name }));
  parts.words.append(block);
  return block;
}

// Shades each token by what the row that wrote the token in view has for it.
export function shadeWords({ parts, text, at }) {
  const row = rowOf(text, at) ?? [];
  const peak = peakOf(row);
  parts.nodes.forEach((node, key) => {
    const share = Math.min(1, (row[key] ?? 0) / peak);
    const shade = share < 0.02 ? "" : `color-mix(in srgb, var(--accent) ${Math.round(55 * share)}%, transparent)`;
    if (node.dataset.shade !== shade) node.style.background = node.dataset.shade = shade;
    node.classList.toggle("queried", key === at);
  });
}

export function watchWords(app) {
  const { words } = app.parts;
  words.onclick = ({ target }) => {
    const at = target.dataset?.at;
    if (at !== undefined) look(app, Number(at));
  };
  words.onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !app.text) return;
    event.preventDefault();
    event.stopPropagation();
    look(app, app.at + by);
    const node = app.parts.nodes[app.at];
    if (node) showWithin(words, node);
  };
}

// The last token is followed as others are written after it.
export function look(app, at) {
  const { text } = app;
  const kept = Math.max(text.prompt, Math.min(text.tokens.length - 1, at));
  change(app, { at: kept === text.tokens.length - 1 ? null : kept });
}
