// What is in view: the step, and the head whose rows are drawn. The browser's own choice holds; Python hears of it later.

import { SETTLE_MS, change } from "../../shared/js/store.js";
import { hasSite, mapOf } from "./payload.js";

export const START = { step: 0, layer: 0, head: 0 };

export function settle({ view, payload }) {
  view.step = Math.min(Math.max(0, view.step), payload.header.steps.length - 1);
}

// While it plays, every step would be a run of the page: Python hears where it stops.
export const reportAfter = (app) => (app.playing ? null : isWaiting(app) ? 0 : SETTLE_MS);

export const isWaiting = (app) =>
  app.payload.kinds.some(
    (kind) => hasSite(kind, app.view.layer, app.view.head) && !mapOf(kind, app.view.layer, app.view.head),
  );

export function goTo(app, step) {
  const last = app.payload.header.steps.length - 1;
  const wanted = Math.min(Math.max(0, step), last);
  if (wanted !== app.view.step) change(app, { step: wanted });
}
