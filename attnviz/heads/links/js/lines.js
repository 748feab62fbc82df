// The lines of the payload's rows (attnviz/heads/links/links.py), and which of them are drawn.

import { isIndex } from "../../../kit/js/cells.js";

export const AT_ONCE = ["kind"]; // only Python has another kind's lines
const MOST_LINES = 12000; // drawn at once; the strongest, and the legend says what is left out

// Lightness is alike within a theme, and neighbours differ for every kind of colour blindness.
export const HUES = {
  light: ["#4b45d1", "#c2410c", "#0f766e", "#be185d", "#8a6508", "#0369a1", "#4d7c0f", "#6b7280"],
  dark: ["#9a92ff", "#fb923c", "#2dd4bf", "#f472b6", "#eab308", "#38bdf8", "#a3e635", "#cbd5e1"],
};

export function settle(app) {
  const [layers, heads, rows, cols] = app.payload.header.shape;
  const { view } = app;
  const known = new Set();
  view.heads = view.heads.filter(([layer, head]) => {
    const name = `${layer}.${head}`;
    const isNew = isIndex(layer, layers) && isIndex(head, heads) && !known.has(name);
    known.add(name);
    return isNew;
  });
  const [side, place] = tokenOf(view.token);
  const count = { q: rows, k: cols }[side] ?? 0; // any other letter is no side
  if (view.token !== null && !isIndex(place, count)) view.token = null;
}

// "q3" is row 3, "k0" the first key.
export const tokenOf = (name) => (name ? [name[0], Number(name.slice(1))] : [null, null]);

// The pointer goes before the keyboard, the keyboard before a click.
export const activeToken = (app) => app.hovered ?? app.focused ?? app.view.token;

export const hueOf = (app, place) => HUES[app.theme.name][place % HUES.light.length];

// The lines that all heads share a budget for, and of a long text's chosen heads finer ones, where these are there.
export function readLines(app) {
  const { header, array } = app.payload;
  if (app.lines?.id === header.id) return;
  const [layers, heads, rows] = header.shape;
  const read = (from, count) => ({
    starts: array(Uint32Array, from.starts, count * rows + 1),
    cols: array(Uint16Array, from.line_cols, from.count),
    weights: array(Float32Array, from.line_weights, from.count),
  });
  const fine = header.fine && { ...header.fine, ...read(header.fine, header.fine.heads.length) };
  app.lines = { id: header.id, whole: read(header, layers * heads), fine };
}

// Where a head's lines are: the arrays, its first row in them, the least weight and the share that its lines carry.
export function linesOf(app, [layer, head]) {
  const { header } = app.payload;
  const { whole, fine } = app.lines;
  const [, heads, rows] = header.shape;
  const at = fine ? fine.heads.findIndex(([l, h]) => l === layer && h === head) : -1;
  if (at >= 0) return { ...fine, start: at * rows, share: fine.shares[at], threshold: fine.threshold };
  const start = (layer * heads + head) * rows;
  return { ...whole, start, share: header.shares[layer][head], threshold: header.threshold };
}

// Calls `take(row, col, weight, place)` for every line of the chosen heads, or only those of one token.
export function eachLine(app, token, take) {
  const rows = app.payload.header.shape[2];
  const [side, only] = tokenOf(token);
  const [first, last] = side === "q" ? [only, only + 1] : [0, rows];
  app.view.heads.forEach((head, place) => {
    const { starts, cols, weights, start } = linesOf(app, head);
    for (let row = first; row < last; row++)
      for (let at = starts[start + row]; at < starts[start + row + 1]; at++)
        if (side !== "k" || cols[at] === only) take(row, cols[at], weights[at], place);
  });
}

// The lines to draw, only the strongest where they are too many.
export function chosenLines(app, token) {
  let count = 0;
  let highest = 0;
  const tally = new Uint32Array(257);
  eachLine(app, token, (row, col, weight) => {
    count += 1;
    highest = Math.max(highest, weight);
    tally[Math.min(256, Math.floor(weight * 256))] += 1;
  });
  const least = count > MOST_LINES ? leastOf(tally) : 0;
  const lines = [];
  eachLine(app, token, (row, col, weight, place) => {
    if (weight >= least) lines.push({ row, col, weight, place });
  });
  return { lines, leftOut: count - lines.length, least, top: app.view.scale === "max" ? highest || 1 : 1 };
}

function leastOf(tally) {
  let kept = 0;
  for (let step = 256; step >= 0; step--) {
    kept += tally[step];
    if (kept > MOST_LINES) return (step + 1) / 256;
  }
  return 0;
}
