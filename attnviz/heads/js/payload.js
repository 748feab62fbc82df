// Decoding of what Python sends (attnviz/heads/payload.py says how it is laid out). FIXED is what no payload says,
// because it never changes (attnviz/kit/bundle.py).

import { range } from "../../kit/js/cells.js";
import { FIXED } from "../../kit/js/constants.js";
import { unpack } from "../../kit/js/unpack.js";

export function decodePayload(bytes) {
  const { header, array } = unpack(bytes);
  header.strip.lines = header.strip.lines.map(readLine);
  const kinds = new Map(header.kinds.map((raw) => [raw.kind, readKind(raw, header.strip, array)]));
  header.metrics.values = readMetrics(header.metrics, kinds, array);
  const exact = new Map();
  for (const entry of header.exact) readExact(entry, kinds, exact, array);
  for (const kind of kinds.values()) kind.thumbs ??= thumbsOf(kind, exact);
  return { header, kinds, exact, scales: (fixedScales ??= readScales()) };
}

function readLine({ name, tokens, special, entries, spans }) {
  const specials = new Set(special);
  return { name, spans, tokens: tokens.map((text, i) => [text, specials.has(i), entries?.[i] ? [entries[i]] : []]) };
}

function readKind(raw, strip, array) {
  const [layers, heads, rows, cols] = raw.shape;
  const { offset, height, width } = raw.overview;
  const said = { ...FIXED.kinds[raw.kind], ...stripLabels(raw, strip), sinks: [], keys_hidden: [], left_out: "" };
  const kind = { ...said, ...raw, layers, heads, nRows: rows, nCols: cols };
  kind.thumbs = offset === undefined ? null : array(Uint8Array, offset, layers * heads * height * width);
  kind.thumbHeight = height;
  kind.thumbWidth = width;
  kind.isPooled = height < rows || width < cols;
  kind.rowTokens = raw.row_tokens ?? kind.rows.map((_, i) => [i]);
  kind.colTokens = raw.col_tokens ?? kind.cols.map((_, i) => [i]);
  kind.masks = raw.mask ? readMasks(raw.mask, rows * cols, array) : null;
  return kind;
}

// Labels that are the strip's own tokens in turn are not sent again (attnviz/heads/sentences.py).
function stripLabels({ kind, rows, cols, shape }, { lines, axes }) {
  const tokensFrom = ([line, from], length) => lines[line].tokens.slice(from, from + length);
  const labels = { row_entries: [], col_entries: [] };
  if (!rows) {
    const [line, output] = axes[kind].query;
    const outputs = tokensFrom([line, output], shape[2]);
    const inputs = tokensFrom([line, 0], shape[2]);
    labels.rows = inputs.map(([text], i) => [text, output ? outputs[i][0] : null]);
    labels.row_entries = inputs.map(([, , entry], i) => [entry, output ? outputs[i][2] : []]);
  }
  if (!cols) {
    const keys = tokensFrom([axes[kind].key[0], 0], shape[3]);
    labels.cols = keys.map(([text]) => text);
    labels.col_entries = keys.map(([, , entry]) => entry);
  }
  return labels;
}

// Each metric of a kind as numbers by layer and head; null where there is none (metric_columns in attnviz/heads/payload.py).
function readMetrics({ names, offsets }, kinds, array) {
  const values = {};
  for (const [name, { layers, heads }] of kinds) {
    if (!(name in offsets)) continue;
    const ranges = array(Float32Array, offsets[name], 2 * names.length);
    const codes = array(Uint16Array, offsets[name] + ranges.byteLength, names.length * layers * heads);
    values[name] = {};
    names.forEach(([metric], i) => {
      const [low, high] = ranges.subarray(2 * i, 2 * i + 2);
      const own = Array.from(codes.subarray(i * layers * heads, (i + 1) * layers * heads));
      values[name][metric] = own.map((code) => (code > 65534 ? null : low + (code / 65534) * (high - low)));
    });
  }
  return values;
}

function readMasks({ offset, layers, heads }, cells, array) {
  const total = layers * heads * cells;
  const bits = array(Uint8Array, offset, Math.ceil(total / 8));
  const seen = new Uint8Array(total);
  for (let i = 0; i < total; i++) seen[i] = (bits[i >> 3] >> (i & 7)) & 1;
  return { layers, heads, seen };
}

// Whether a query may attend to a key, one byte a cell, or null where every query sees every key.
export function maskOf(kind, layer, head) {
  if (!kind.masks) return null;
  const { layers, heads, seen } = kind.masks;
  const cells = kind.nRows * kind.nCols;
  const pick = (choice, length) => (length === 1 ? [0] : choice === "mean" ? range(length) : [choice]);
  const sites = pick(layer, layers).flatMap((l) => pick(head, heads).map((h) => l * heads + h));
  const parts = sites.map((site) => seen.subarray(site * cells, (site + 1) * cells));
  return parts.length === 1 ? parts[0] : parts[0].map((_, i) => (parts.some((part) => part[i]) ? 1 : 0));
}

// The maps of all heads, or of one head or mean.
function readExact(entry, kinds, exact, array) {
  const kind = kinds.get(entry.kind);
  const cells = kind.nRows * kind.nCols;
  const sites = entry.layer === undefined ? sitesOf(kind) : [[entry.layer, entry.head]];
  const sent = array(Float32Array, entry.offset, entry.seen ?? sites.length * cells);
  const all = entry.seen === undefined ? sent : withMasked(sent, kind, sites);
  sites.forEach(([layer, head], i) =>
    exact.set(siteKey(entry.kind, layer, head), all.subarray(i * cells, (i + 1) * cells)),
  );
}

// These sites' maps, of the numbers of those cells that their masks show: the others hold 0.
function withMasked(sent, kind, sites) {
  const cells = kind.nRows * kind.nCols;
  const all = new Float32Array(sites.length * cells);
  let next = 0;
  sites.forEach(([layer, head], i) => {
    const seen = maskOf(kind, layer, head);
    for (let cell = 0; cell < cells; cell++) if (seen[cell]) all[i * cells + cell] = sent[next++];
  });
  return all;
}

// Small maps that are not sent, in eight bits: rounded and bounded as attnviz/tracing/thumbnails.py does it.
function thumbsOf(kind, exact) {
  const cells = kind.nRows * kind.nCols;
  const thumbs = new Uint8ClampedArray(kind.layers * kind.heads * cells);
  sitesOf(kind).forEach(([layer, head], i) => {
    const map = exact.get(siteKey(kind.kind, layer, head));
    for (let cell = 0; cell < cells; cell++) thumbs[i * cells + cell] = Math.fround(map[cell] * 255);
  });
  return thumbs;
}

const sitesOf = ({ layers, heads }) =>
  Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads]);

let fixedScales = null; // the same 256 colours for every payload

function readScales() {
  const bytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const read = ({ sequential, diverging }) => ({ sequential: bytes(sequential), diverging: bytes(diverging) });
  return { light: read(FIXED.scales.light), dark: read(FIXED.scales.dark) };
}

export const siteKey = (kind, layer, head) => `${kind}/${layer}/${head}`;
