// The active row as bars with exact numbers and their sum.

import { explained } from "../../kit/js/definitions.js";
import { element, put } from "../../kit/js/elements.js";
import { entryText, rowEntryText, withEntry } from "../../kit/js/tokens/entries.js";
import { isTemplate, spanText, spokenText } from "../../kit/js/spans/spans.js";
import { exactText, isolated, rowName } from "../../kit/js/text.js";
import { colourAt, css, scaleOf, stepOf } from "../../kit/js/theme.js";
import { isTileCovered } from "./covers.js";
import { mapName, rangeOf } from "./map/tiles.js";
import { isOfWeights, drawnMeasure } from "./measures.js";
import { blindText, topKeys } from "./subject.js";

export const MOST_BARS = 80; // beyond these the rest is one line with its own sum

export function paintBars(app, { tile, row }) {
  const { barsTitle, barsOf, barsRow, barsEntry, bars, barsSum, barsEmpty, barsOrder } = app.parts;
  const isPinned = app.view.row !== null || row === null;
  put(barsTitle, isPinned ? "Pinned row" : "Row pointed at");
  explained(barsTitle, "Pinned row");
  barsEmpty.hidden = row !== null;
  for (const node of [bars, barsSum, barsOrder, barsOf]) node.hidden = row === null;
  put(barsRow, row === null ? "" : rowText(app, tile, row));
  put(barsEntry, row === null ? "" : rowEntryText(tile.kind.row_entries[row]));
  if (row === null) return;
  if (isTileCovered(tile, row)) return hideBars(app);
  put(barsOf, (barsOf.title = mapName(app, tile)));
  fillBars(app, tile, row);
}

function hideBars(app) {
  const { bars, barsSum, barsOrder } = app.parts;
  for (const node of [bars, barsSum, barsOrder]) node.hidden = true;
}

function rowText(app, tile, row) {
  const verb = blindText(tile, row) ?? (tile.signed ? "looks more or less at" : drawnMeasure(app).verb);
  const name = rowName(tile.kind.rows[row].map((part) => part && isolated(part)));
  return `${spokenText(name, tile.kind.row_spans, row)} ${verb}`;
}

function fillBars(app, tile, row) {
  const { kind, map, mask } = tile;
  const ranked = topKeys(kind, map, row);
  const listed = ranked.slice(0, MOST_BARS);
  if (app.view.bars === "position") listed.sort(([i], [j]) => i - j);
  const scale = scaleOf(app, tile.signed ? "diverging" : "sequential");
  const longest =
    tile.signed || app.view.scale === "max" || app.view.sink || !isOfWeights(app)
      ? Math.max(...ranked.map(([, weight]) => Math.abs(weight)), 1e-12)
      : 1;
  const nodes = barNodes(app, listed.length);
  listed.forEach(([col, weight], i) =>
    fillBar(nodes[i], {
      col,
      weight,
      longest,
      tile,
      scale,
      range: tile.range ?? rangeOf(app, [tile]),
      hidden: mask && !mask[row * kind.nCols + col],
    }),
  );
  const total = ranked.reduce((sum, [, weight]) => sum + weight, 0);
  const rest = ranked.slice(MOST_BARS);
  const restText = rest.length
    ? ` · ${rest.length} keys not listed hold ${exactText(rest.reduce((sum, [, weight]) => sum + weight, 0))}`
    : "";
  const sum = (Math.abs(total) < 5e-5 ? 0 : total).toFixed(4);
  const sunk =
    kind.to_sink && !tile.signed && isOfWeights(app)
      ? ` · ${exactText(1 - total)} goes to the head’s sink, which is not a token`
      : "";
  put(app.parts.barsSum, `${drawnMeasure(app).sum} ${map.exact ? "" : "≈ "}${sum}${restText}${sunk}`);
  const order = app.view.bars === "position" ? "by position" : "by weight";
  put(app.parts.barsOrder, order);
  explained(app.parts.barsOrder, order);
}

// Nodes for the bars; `ready` of them are made ahead of the first row, so that it comes as fast as the next.
export function barNodes(app, count, ready = count) {
  app.bars ??= [];
  while (app.bars.length < ready) {
    const name = element("span", { class: "bar-name", dir: "auto" });
    const value = element("span", { class: "bar-value" });
    const fill = element("span", { class: "bar-fill" });
    const place = element("span", { class: "bar-place" });
    const node = element(
      "li",
      { hidden: true },
      element("span", { class: "bar-key" }, name, place),
      value,
      element("span", { class: "bar-track" }, fill),
    );
    app.parts.bars.append(node);
    app.bars.push({ node, name, place, value, fill });
  }
  if (count)
    app.bars.forEach(({ node }, i) => {
      if (node.hidden !== i >= count) node.hidden = i >= count;
    });
  return app.bars;
}

// Tokens that occur more than once are told apart by their position.
function isRepeated(kind, col) {
  kind.counts ??= kind.cols.reduce((counts, text) => counts.set(text, (counts.get(text) ?? 0) + 1), new Map());
  return kind.counts.get(kind.cols[col]) > 1;
}

function fillBar({ node, name, place, value, fill }, { col, weight, longest, tile, scale, range, hidden }) {
  put(name, tile.kind.cols[col]);
  const { cols, spans } = tile.kind;
  name.classList.toggle("in-template", isTemplate(spans, col));
  const who = isTemplate(spans, col) ? "" : spanText(spans, col);
  put(place, [isRepeated(tile.kind, col) ? `#${col}` : "", who === cols[col] ? "" : who].filter(Boolean).join(" "));
  put(value, hidden ? "masked" : `${tile.map.exact ? "" : "≈ "}${barText(weight)}`);
  const said = `${spokenText(cols[col], spans, col)} #${col}: ${hidden ? "masked" : exactText(weight)}`;
  node.title = withEntry(said, entryText(tile.kind.col_entries[col]));
  node.classList.toggle("masked", Boolean(hidden));
  fill.style.width = `${(Math.abs(weight) / longest) * 100}%`;
  // A bar in the scale's palest steps would not be seen on paper, so that bars keep to its upper part.
  const step = tile.signed
    ? weight < 0
      ? 36
      : 219
    : Math.max(70, Math.min(215, stepOf(weight, range.low, range.high)));
  fill.style.background = css(colourAt(scale, step));
}

const barText = (weight) => (weight !== 0 && Math.abs(weight) < 0.0001 ? weight.toExponential(1) : weight.toFixed(4));
