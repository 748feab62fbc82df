// The maps that are drawn: that of the head in focus, those of the pinned heads, or the difference of two; and their one range.

import { exactText, isolated, siteName } from "../../../kit/js/text.js";
import { mapOf } from "../maps.js";
import { isOfWeights } from "../measures.js";
import { maskOf, siteKey } from "../payload.js";

const FAINT = 0.2; // if the largest weight is below this, colours from 0 to 1 leave a map nearly white

export function tilesOf(app) {
  const { compare, pins } = app.view;
  if (compare === "side") return pins.map((pin) => headed(app, siteTile(app, pin)));
  if (compare === "difference") return [differenceTile(app) ?? focusOf(app)];
  return [focusOf(app)];
}

export function focusOf(app) {
  const { kind, layer, head } = app.view;
  return siteTile(app, [kind, layer, head]);
}

function siteTile(app, [name, layer, head]) {
  const kind = app.payload.kinds.get(name);
  return { kind, layer, head, map: mapOf(app, name, layer, head), mask: maskOf(kind, layer, head), signed: false };
}

function differenceTile(app) {
  const [first, second] = differencePair(app);
  if (first[0] !== second[0]) return null;
  const a = siteTile(app, first);
  const b = siteTile(app, second);
  const data = a.map.data.map((value, i) => value - b.map.data[i]);
  const mask = a.mask && b.mask ? a.mask.map((seen, i) => seen | b.mask[i]) : null;
  return { ...a, signed: true, mask, map: { data, exact: a.map.exact && b.map.exact }, pair: [first, second] };
}

// Two pins: the first less the second. One pin: the head in focus less the pinned one, so that heads can be walked.
function differencePair({ view }) {
  const focus = [view.kind, view.layer, view.head];
  return view.pins.length > 1 ? view.pins.slice(0, 2) : [focus, view.pins[0]];
}

const headed = (app, tile) => ({ ...tile, heading: mapName(app, tile) });

// Which map it is, for where several are drawn.
export function mapName(app, tile) {
  if (tile.pair) return `${tile.kind.tab} ${tile.pair.map(([, layer, head]) => siteName(layer, head)).join(" − ")}`;
  const name = pinName(app, [tile.kind.kind, tile.layer, tile.head]);
  if (app.view.compare === "none" || !isInFocus(app, tile)) return name;
  return isPinned(app, tile.kind.kind, tile.layer, tile.head) ? `${name}, in focus` : `${name}, in focus, not pinned`;
}

export const pinName = (app, [name, layer, head]) => `${app.payload.kinds.get(name).tab} ${siteName(layer, head)}`;

export const isPinned = (app, ...site) => app.view.pins.some((pin) => siteKey(...pin) === siteKey(...site));

export const isInFocus = ({ view }, { kind, layer, head, signed }) =>
  !signed && kind.kind === view.kind && layer === view.layer && head === view.head;

// Rows of the two decoder kinds are the same steps; an encoder row is a token of another sentence.
export function haveSameRows(app, one, other) {
  const axes = app.payload.header.strip.axes ?? {};
  return one === other || Boolean(axes[one] && String(axes[one].query) === String(axes[other]?.query));
}

export const sharesRows = (app, name) => haveSameRows(app, name, app.view.kind);

// One range for all the maps that are drawn side by side, so that their colours can be compared.
export function rangeOf(app, tiles) {
  if (tiles[0].signed) {
    const high = largest(tiles[0].map.data, [], 1) || 1;
    return { low: -high, high, note: "up to the largest difference" };
  }
  const { sink, scale } = app.view;
  const isFixed = !sink && scale !== "max" && isOfWeights(app);
  const tops = tiles.map(({ kind, map }) => largest(map.data, sink ? kind.sinks : [], kind.nCols));
  const high = Math.max(...tops) || 1;
  if (isFixed)
    return {
      low: 0,
      high: 1,
      note: high < FAINT ? `the largest weight is ${exactText(high)}` : "",
      isFaint: high < FAINT,
    };
  if (!sink) return { low: 0, high, note: `up to the largest ${isOfWeights(app) ? "weight" : "drawn"}` };
  const names = [...new Set(tiles.flatMap(({ kind }) => kind.sinks.map((col) => isolated(kind.cols[col]))))];
  return { low: 0, high, note: `sink left out of the range: ${names.join(", ") || "none here"}` };
}

function largest(data, without, nCols) {
  const skip = new Set(without);
  let high = 0;
  for (let i = 0; i < data.length; i++) {
    const size = Math.abs(data[i]);
    if (size > high && !(skip.size && skip.has(i % nCols))) high = size;
  }
  return high;
}
