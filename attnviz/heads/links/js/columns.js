// The two columns of tokens. They are elements, so that each can be reached by keyboard and read aloud.

import { clamp } from "../../../kit/js/cells.js";
import { element } from "../../../kit/js/elements.js";
import { bandNode, markToken } from "../../../kit/js/spans/nodes.js";
import { spokenText } from "../../../kit/js/spans/spans.js";
import { entryText, rowEntryText } from "../../../kit/js/tokens/entries.js";
import { change } from "../../../kit/js/store.js";
import { rowName } from "../../../kit/js/text.js";
import { paintActive } from "./hover.js";
import { activeToken, tokenOf } from "./lines.js";
import { paintStrokes } from "./strokes.js";

const READABLE = 19;
const TALLEST = 84; // pixels a row: a short sentence takes the room that there is, for it may be read from the last bench

export function paintColumns(app) {
  const { header } = app.payload;
  const [, , rows, cols] = header.shape;
  const high = app.parts.body.clientHeight - 8;
  const fitted = high / Math.max(rows, cols, 1);
  app.rowHeight = app.view.rows === "fit" ? Math.min(TALLEST, fitted) : Math.max(READABLE, Math.min(TALLEST, fitted));
  if (app.columnsBase !== header.base) {
    app.columnsBase = header.base;
    app.columnsHeight = null;
    app.hovered = app.focused = null; // the tokens that were pointed at are gone
    app.tokens = {
      q: header.rows.map((row, i) => tokenNode(["q", i], row, rowEntryText(header.row_entries[i]), header.row_spans)),
      k: header.cols.map((text, i) =>
        tokenNode(["k", i], [text, null], entryText(header.col_entries[i]), header.spans),
      ),
    };
    app.bands = { q: (header.row_spans ?? []).map(bandNode), k: (header.spans ?? []).map(bandNode) };
    app.parts.queries.replaceChildren(...app.bands.q, ...app.tokens.q);
    app.parts.keys.replaceChildren(...app.bands.k, ...app.tokens.k);
    app.parts.inner.toggleAttribute("data-spans", Boolean(header.row_spans || header.spans));
    app.marked = [];
  }
  if (app.columnsHeight !== app.rowHeight) placeTokens(app, Math.max(rows, cols));
}

// Tokens stay the elements that they are when rows become higher or lower: a long text has thousands.
function placeTokens(app, rows) {
  app.columnsHeight = app.rowHeight;
  const every = Math.max(1, Math.ceil(11 / app.rowHeight));
  for (const nodes of Object.values(app.tokens))
    nodes.forEach((node, place) => {
      node.style.top = `${place * app.rowHeight}px`;
      node.classList.toggle("thin", place % every > 0);
    });
  for (const node of Object.values(app.bands).flat()) {
    const { start, end } = node.dataset;
    node.style.top = `${start * app.rowHeight}px`;
    node.style.height = `${(end - start) * app.rowHeight - 1}px`;
  }
  app.parts.inner.style.height = `${Math.ceil(app.rowHeight * rows)}px`;
  app.parts.body.style.setProperty("--row", `${app.rowHeight}px`);
  app.parts.body.style.setProperty("--text", `${Math.max(12.5, Math.min(19, app.rowHeight * 0.36))}px`);
}

function tokenNode([side, place], [input, output], entry, spans) {
  const node = element("div", { class: "link-token", role: "option", tabindex: place ? "-1" : "0", dir: "auto" });
  node.dataset.token = `${side}${place}`;
  node.title = entry;
  // Input, arrow and output are three pieces, so that a right-to-left token cannot turn them round.
  const pieces = output === null ? [element("bdi", { text: input })] : stepPieces(input, output);
  const text = element("span", { class: "link-text" }, ...pieces);
  markToken(output === null ? text : text.firstChild, spans, place);
  node.append(text);
  const name = spokenText(rowName([input, output]), spans, place);
  node.setAttribute("aria-label", `${name}, ${side === "q" ? "query" : "key"} ${place}`);
  return node;
}

function stepPieces(input, output) {
  const arrow = element("span", { class: "quiet", text: " → " });
  return input === null
    ? [element("bdi", { text: output })]
    : [element("bdi", { class: "quiet", text: input }), arrow, element("bdi", { text: output })];
}

const tokenAt = (target) => target.closest?.(".link-token")?.dataset.token ?? null;

export function watchTokens(app) {
  const { body } = app.parts;
  body.onpointerover = (event) => look(app, { hovered: tokenAt(event.target) });
  body.onpointerleave = () => look(app, { hovered: null });
  // These two have no property to assign to.
  body.addEventListener("focusin", (event) => look(app, { focused: tokenAt(event.target) }));
  body.addEventListener("focusout", () => look(app, { focused: null }));
  body.onclick = (event) => {
    const token = tokenAt(event.target);
    if (token) change(app, { token: token === app.view.token ? null : token });
  };
  body.onkeydown = (event) => walkTokens(app, event);
  body.onscroll = () => {
    cancelAnimationFrame(app.frame);
    app.frame = requestAnimationFrame(() => paintStrokes(app));
  };
}

function look(app, patch) {
  const before = activeToken(app);
  Object.assign(app, patch);
  if (activeToken(app) !== before) paintActive(app);
}

function walkTokens(app, event) {
  const [side, place] = tokenOf(tokenAt(event.target));
  if (side === null) return;
  const moves = {
    ArrowUp: [side, place - 1],
    ArrowDown: [side, place + 1],
    ArrowLeft: ["q", place],
    ArrowRight: ["k", place],
  };
  const acts = {
    Enter: () => event.target.click(),
    " ": () => event.target.click(),
    Escape: () => change(app, { token: null }),
  };
  if (event.key in acts) acts[event.key]();
  else if (event.key in moves) focusToken(app, ...moves[event.key]);
  else return;
  event.preventDefault();
}

function focusToken(app, side, place) {
  const nodes = app.tokens[side];
  const next = nodes[clamp(place, 0, nodes.length - 1)];
  for (const node of nodes) if (node.tabIndex === 0) node.tabIndex = -1;
  next.tabIndex = 0;
  next.focus({ preventScroll: false });
}
