// Which heads are off. A head is named kind.layer.head, as Python names it.

import { range } from "../../../kit/js/cells.js";
import { change } from "../../../kit/js/store.js";

export const AT_ONCE = ["off", "put", "measure", "count"]; // which only Python can answer

export function settle(app) {
  const known = new Set(allHeads(app));
  app.view.off = app.view.off.filter((name) => known.has(name));
}

export const headName = (group, layer, head) => `${group.kind}.${layer}.${head}`;

export const headsOf = (group) =>
  range(group.layers).flatMap((layer) => range(group.heads).map((head) => headName(group, layer, head)));

export const layerOf = (group, layer) => range(group.heads).map((head) => headName(group, layer, head));

export const allHeads = (app) => app.payload.header.groups.flatMap(headsOf);

export const isOff = (app, name) => app.view.off.includes(name);

// Off all together, or on again where they are.
export function toggle(app, names) {
  const are = names.every((name) => isOff(app, name));
  turn(app, names, !are);
}

export function turn(app, names, off) {
  const changed = new Set(names);
  const rest = app.view.off.filter((name) => !changed.has(name));
  setOff(app, off ? [...rest, ...names] : rest);
}

// A count is of the heads that were off then.
export const setOff = (app, off) => change(app, { off, count: false });

export const allButThese = (app) =>
  setOff(
    app,
    allHeads(app).filter((name) => !isOff(app, name)),
  );
export const allOn = (app) => setOff(app, []);

// The `count` heads whose absence costs most, or least; null where none is measured. A distance costs more the larger it
// is, a log-probability the further it falls.
export function byWorth(app, count, isMost) {
  const sign = app.payload.header.unit.is_signed === isMost ? 1 : -1;
  const worth = app.payload.header.groups.flatMap((group) =>
    (group.nats ?? []).map((value, at) => [headsOf(group)[at], value]),
  );
  if (!worth.length) return null;
  const sorted = worth.filter(([, value]) => value !== null).sort((a, b) => sign * (a[1] - b[1]));
  return sorted.slice(0, count).map(([name]) => name);
}

// Whether what Python sent is of the heads that are off now.
export const isAnswered = ({ payload, view }) =>
  payload.header.put === view.put && payload.header.done.toSorted().join() === view.off.toSorted().join();
