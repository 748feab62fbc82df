// The view: the step, and the head whose rows are drawn. The browser's own choice holds; Python hears of it later.

import { clamp } from "../../kit/js/cells.js";
import { SETTLE_MS, change } from "../../kit/js/store.js";
import { hasSite, mapOf } from "./payload.js";

export function settle(app) {
  app.view.step = clamp(app.view.step, 0, lastOf(app));
}

// While it plays, every step would be a run of the page: Python hears where it stops.
export const reportAfter = (app) => (app.playing ? null : isWaiting(app) ? 0 : SETTLE_MS);

export const isWaiting = (app) =>
  app.payload.kinds.some(
    (kind) => hasSite(kind, app.view.layer, app.view.head) && !mapOf(kind, app.view.layer, app.view.head),
  );

export const FILM = {
  name: "step",
  slider: "Step",
  beat: 650,
  last: lastOf,
  goTo,
  text: (app) => `step ${app.view.step} of ${lastOf(app)}`,
};

function lastOf({ payload }) {
  return payload.header.steps.length - 1;
}

export function goTo(app, step) {
  const wanted = clamp(step, 0, lastOf(app));
  if (wanted !== app.view.step) change(app, { step: wanted });
}
