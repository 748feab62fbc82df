// Which head is in focus, and its two maps laid over each other.

import { clamp, range } from "../../../kit/js/cells.js";
import { change } from "../../../kit/js/store.js";

export function settle(app) {
  const { view } = app;
  const group = groupOf(app) ?? app.payload.header.groups[0];
  view.kind = group.kind;
  view.layer = clamp(view.layer, 0, group.layers - 1);
  view.head = clamp(view.head, 0, group.heads - 1);
}

export const groupOf = ({ payload, view }) => payload.header.groups.find(({ kind }) => kind === view.kind);

// Every head, those that moved most first; what cannot be compared comes last.
export const sortedHeads = ({ payload }) =>
  payload.header.groups
    .flatMap((group) =>
      range(group.layers * group.heads).map((at) => ({
        group,
        layer: Math.floor(at / group.heads),
        head: at % group.heads,
        bits: group.apart[at],
      })),
    )
    .sort((a, b) => (b.bits ?? -1) - (a.bits ?? -1));

export const choose = (app, { group, layer, head }) => change(app, { kind: group.kind, layer, head });

// A step along the list.
export function walk(app, step) {
  const heads = sortedHeads(app);
  const { kind, layer, head } = app.view;
  const at = heads.findIndex((one) => one.group.kind === kind && one.layer === layer && one.head === head);
  choose(app, heads[clamp(at + step, 0, heads.length - 1)]);
}

// Both maps of the head in focus over the same rows and columns, NaN where a run has no such cell, and their difference;
// null while they are on their way.
export function mapsOf(app) {
  const { payload, view } = app;
  const group = groupOf(app);
  const found = payload.header.maps.find(
    ({ kind, layer, head }) => kind === view.kind && layer === view.layer && head === view.head,
  );
  if (!found) return null;
  const [nRows, nCols] = [group.rows.length, group.cols.length];
  const own = [0, 1].map((side) => {
    const cols = group.col_texts[side].length;
    const data = payload.array(Float32Array, found.offsets[side], group.row_texts[side].length * cols);
    return Float32Array.from({ length: nRows * nCols }, (_, i) => {
      const [row, col] = [group.rows[Math.floor(i / nCols)][side], group.cols[i % nCols][side]];
      return row === null || col === null ? NaN : data[row * cols + col];
    });
  });
  const difference = own[0].map((value, i) => own[1][i] - value);
  return { group, nRows, nCols, maps: group.in_step ? [...own, difference] : own };
}
