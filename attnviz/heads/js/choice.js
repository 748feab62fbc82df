// The view, and how a choice is kept within the text and the model.

import { SETTLE_MS, answered, change } from "../../kit/js/store.js";
import { sharesRows } from "./map/tiles.js";
import { fitsZoom } from "./map/zoom_window.js";
import { mapOf } from "./maps.js";
import { siteKey } from "./payload.js";

const RESHAPING = ["kind", "specials", "words"]; // a zoom into other rows and columns would mean nothing
// Only Python can answer these; a mark is an answer, which may be handed in at once.
const AT_ONCE = ["specials", "words", "plotly", "table", "off", "cells", "marks"];

// Keep the choice within text and model: a new text may have fewer rows, another model fewer heads.
export function settle(app) {
  const { kinds } = app.payload;
  const view = app.view;
  if (!kinds.has(view.kind)) view.kind = kinds.keys().next().value;
  const kind = kinds.get(view.kind);
  const within = (value, length) => value === "mean" || value < length;
  if (!within(view.layer, kind.layers)) view.layer = 0;
  if (!within(view.head, kind.heads)) view.head = 0;
  if (view.row >= kind.nRows) view.row = null;
  const isThere = ([name, layer, head]) => {
    const found = kinds.get(name);
    return found && within(layer, found.layers) && within(head, found.heads);
  };
  view.pins = view.pins.filter(isThere);
  view.off = view.off.filter(isThere);
  if (!view.pins.length) view.compare = "none";
  if (!fitsZoom(view.zoom, kind)) view.zoom = null;
}

export function choose(app, asked) {
  const patch = answered(app, asked);
  const isOtherMap = RESHAPING.some((name) => name in patch && patch[name] !== app.view[name]);
  change(app, isOtherMap ? { zoom: null, ...patch } : patch);
}

export const reportAfter = (app, patch) => (AT_ONCE.some((name) => name in patch) || needsExact(app) ? 0 : SETTLE_MS);

const needsExact = (app) => sitesInView(app).some(([kind, layer, head]) => !mapOf(app, kind, layer, head).exact);

const sitesInView = ({ view }) => [[view.kind, view.layer, view.head], ...(view.compare === "none" ? [] : view.pins)];

export function chooseKind(app, name) {
  const kind = app.payload.kinds.get(name);
  if (!kind || name === app.view.kind) return;
  choose(app, { kind: name, row: sharesRows(app, name) ? app.view.row : null });
}

export function togglePin(app, site = [app.view.kind, app.view.layer, app.view.head]) {
  const key = siteKey(...site);
  const pins = app.view.pins.filter((pin) => siteKey(...pin) !== key);
  if (pins.length === app.view.pins.length) pins.push(site);
  choose(app, { pins: pins.slice(-4) });
}

// To the mean and back to the head, or layer, that was in focus before it.
export const overHeads = (app) => ({ head: app.view.head === "mean" ? (app.lastHead ?? 0) : "mean" });
export const overLayers = (app) => ({ layer: app.view.layer === "mean" ? (app.lastLayer ?? 0) : "mean" });

export function rememberSite(app) {
  if (app.view.head !== "mean") app.lastHead = app.view.head;
  if (app.view.layer !== "mean") app.lastLayer = app.view.layer;
}
