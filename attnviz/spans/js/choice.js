// The view, and the shares that are in view (attnviz/spans/spans.py).

import { range, sitesOf } from "../../kit/js/cells.js";
import { isolated } from "../../kit/js/text.js";

export const AT_ONCE = ["spans", "answer", "shares", "hidden"]; // only Python computes these

export function settle(app) {
  const { header } = app.payload;
  const { view } = app;
  const [start, end] = header.answer;
  if (view.layer !== "mean" && view.layer >= header.layers) view.layer = "mean";
  if (view.head !== "mean" && view.head >= header.heads) view.head = "mean";
  if (view.focus !== null && (view.focus < start || view.focus >= end)) view.focus = null;
}

// Whether other spans or another answer are asked for than these numbers are of.
export const isComputing = ({ payload: { header }, view }) => AT_ONCE.some((name) => view[name] !== header.asked[name]);

// The columns that are in view: all, or all but the first token.
export const columnsOf = ({ payload: { header }, view }) =>
  range(header.columns.length).filter((at) => view.first || at > 0);

const sizeOf = ({ header }, name) => (name === "by_token" ? header.answer[1] - header.answer[0] : header.spans.length);

// A row of shares, by column: the mean over the layers and heads that are chosen, of tokens or of spans.
export function rowsOf(app, name, sites = sitesOf(app.payload.header, app.view.layer, app.view.head)) {
  const { header, array } = app.payload;
  const [rows, columns] = [sizeOf(app.payload, name), header.columns.length];
  const sums = new Float64Array(rows * columns);
  const all = array(Float32Array, header[name], header.layers * header.heads * rows * columns);
  for (const [layer, head] of sites) {
    const begin = (layer * header.heads + head) * rows * columns;
    for (let i = 0; i < sums.length; i++) sums[i] += all[begin + i];
  }
  return range(rows).map((row) =>
    inView(
      app,
      Array.from(sums.subarray(row * columns, (row + 1) * columns), (sum) => sum / sites.length),
    ),
  );
}

// For each token of a span where that is asked for; without the first token, what the others have is scaled to 1.
function inView({ payload: { header }, view }, shares) {
  const given = shares.map((share, at) => (view.first || at > 0 ? share : 0));
  const total = given.reduce((sum, share) => sum + share, 0);
  const scaled = view.first || !total ? given : given.map((share) => share / total);
  return view.per_token ? scaled.map((share, at) => share / Math.max(1, header.lengths[at])) : scaled;
}

// The answer's shares: of the token that is looked at, or the mean over all of them.
export function answerShares(app, sites) {
  const rows = rowsOf(app, "by_token", sites);
  const { view, payload } = app;
  if (view.focus !== null) return rows[view.focus - payload.header.answer[0]];
  return payload.header.columns.map((_, at) => rows.reduce((sum, row) => sum + row[at], 0) / rows.length);
}

// The row before a token's own place outputs the token; rows are counted as on Heads. A single token is called by its name.
export function answerName({ payload: { header }, view }) {
  const [start, end] = header.answer;
  const only = view.focus ?? (end - start === 1 ? start : null);
  if (only !== null) return `${isolated(header.tokens[only])}, row ${only - 1}`;
  return `the answer, rows ${start - 1} to ${end - 2}`;
}

// Names the answer for a sentence: a single token by its name.
export const answerText = ({ answer: [start, end], tokens }) =>
  end - start === 1 ? isolated(tokens[start]) : "the answer";

// The span that a column is of, or null.
export const spanOfColumn = ({ header }, column) => (column > 0 && column <= header.spans.length ? column - 1 : null);

export const isByNorm = ({ payload: { header }, view }) => view.shares === "norm" && !header.facts.why_no_norm;
