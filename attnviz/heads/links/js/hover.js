// The token that is looked at: the tokens at the other end of its lines are shaded, and its largest weights are listed.

import { element, put } from "../../../kit/js/elements.js";
import { entryText, rowEntryText } from "../../../kit/js/tokens/entries.js";
import { spansNote } from "../../../kit/js/spans/spans.js";
import { announce } from "../../../kit/js/live_region.js";
import { attendingNote, exactText, isolated, rowName, siteName } from "../../../kit/js/text.js";
import { HUES, activeToken, hueOf, linesOf, tokenOf } from "./lines.js";
import { paintStrokes } from "./strokes.js";

const MOST_LISTED = 40;

export function paintActive(app) {
  paintStrokes(app);
  for (const node of app.marked) {
    node.style.background = "";
    node.classList.remove("active");
  }
  app.marked = [];
  const token = activeToken(app);
  if (token !== null) shadeEnds(app, token);
  paintList(app, token);
  paintNote(app);
}

function shadeEnds(app, token) {
  const [side, place] = tokenOf(token);
  const own = app.tokens[side][place];
  own.classList.add("active");
  app.marked.push(own);
  const strongest = new Map();
  for (const line of app.shown.lines) {
    const end = side === "q" ? line.col : line.row;
    if (line.weight > (strongest.get(end)?.weight ?? 0)) strongest.set(end, line);
  }
  for (const [end, { weight, place: head }] of strongest) {
    const node = app.tokens[side === "q" ? "k" : "q"][end];
    const share = Math.round(Math.min(1, weight / app.shown.top) * 60);
    node.style.background = `color-mix(in srgb, ${hueOf(app, head)} ${share}%, transparent)`;
    app.marked.push(node);
  }
}

// Sorted once for the same lines: a long text has thousands.
function strongestFirst(app) {
  if (app.ranked?.of !== app.shown) app.ranked = { of: app.shown, lines: rankedLines(app.shown.lines) };
  return app.ranked.lines;
}

const rankedLines = (lines) => [...lines].sort((a, b) => b.weight - a.weight);

function paintList(app, token) {
  const { list, listEntry, listHint, listTitle } = app.parts;
  const [side, place] = tokenOf(token);
  const { header } = app.payload;
  const nameOf = (name, at) => (name === "q" ? rowText(header.rows[at]) : isolated(header.cols[at]));
  listTitle.textContent =
    token === null ? "The strongest links" : `${nameOf(side, place)} ${side === "q" ? "looks at" : "is looked at by"}`;
  const entryOf = (name, at) =>
    name === "q" ? rowEntryText(header.row_entries[at]) : entryText(header.col_entries[at]);
  put(listEntry, token === null ? "" : entryOf(side, place));
  const lines = strongestFirst(app);
  listHint.hidden = token !== null;
  list.replaceChildren(...lines.slice(0, MOST_LISTED).map((line) => listNode(app, line, side)));
  if (lines.length > MOST_LISTED)
    list.append(element("li", { class: "quiet", text: `${lines.length - MOST_LISTED} weaker lines` }));
  const best = lines
    .slice(0, 3)
    .map((line) => `${nameOf(side === "q" ? "k" : "q", side === "q" ? line.col : line.row)} ${exactText(line.weight)}`);
  if (token === null) announce(app, "");
  else announce(app, `${listTitle.textContent} ${best.join(", ") || "no visible line"}.`);
}

// A row's name with each of its labels isolated: the query stands first, whichever way a label is written.
const rowText = (row) => rowName(row.map((label) => label && isolated(label)));

function listNode(app, line, side) {
  const { header } = app.payload;
  const [layer, head] = app.view.heads[line.place];
  const [input, output] = header.rows[line.row];
  const col = isolated(header.cols[line.col]);
  const text = { q: col, k: rowText(header.rows[line.row]) }[side] ?? `${isolated(output ?? input)} – ${col}`;
  const place = { q: `#${line.col} `, k: `#${line.row} ` }[side] ?? "";
  const entries = [
    side === "k" ? "" : entryText(header.col_entries[line.col]),
    side === "q" ? "" : rowEntryText(header.row_entries[line.row]),
  ];
  return element(
    "li",
    { title: entries.toReversed().filter(Boolean).join(" – ") },
    element("span", { class: "dot", style: `background:${hueOf(app, line.place)}` }),
    element("span", { class: "list-token", dir: "ltr", text }),
    element("span", { class: "quiet", text: place + (app.view.heads.length > 1 ? siteName(layer, head) : "") }),
    element("span", { class: "list-weight", text: exactText(line.weight) }),
  );
}

// Notes on what is drawn and what is not, the same in files.
export function notesOf(app) {
  const { header } = app.payload;
  const { shown, view } = app;
  const opaque = view.scale === "max" ? ` (opaque at ${exactText(shown.top)})` : "";
  const notes = [`${count(shown.lines.length)} lines; the larger the weight, the more opaque${opaque}`];
  if (shown.leftOut)
    notes.push(`${count(shown.leftOut)} fainter lines are left out (weight below ${exactText(shown.least)})`);
  const drawn = view.heads.map((head) => linesOf(app, head));
  const share = Math.min(1, ...drawn.map((lines) => lines.share));
  if (share < 0.995 && view.heads.length)
    notes.push(
      `weights below ${exactText(Math.max(...drawn.map((lines) => lines.threshold)))} are not drawn: ` +
        `lines carry at least ${(100 * share).toFixed(1)} % of each head's weight`,
    );
  if (view.heads.length > HUES.light.length) notes.push(`${HUES.light.length} colours, repeated`);
  if (header.left_out) notes.push(header.left_out);
  const who = spansNote(header.row_spans, header.spans);
  if (who) notes.push(who);
  if (header.layer_numbers.length) notes.push(attendingNote(header.layer_numbers));
  return notes;
}

function paintNote(app) {
  put(app.parts.note, app.view.heads.length ? notesOf(app).join(" · ") : "No head is chosen. Click a square.");
}

const count = (number) => number.toLocaleString("en");
