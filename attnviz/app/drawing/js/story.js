// Which step of the story is in view, and how it walks: by key, by button, or by itself.

import { clamp } from "../../../kit/js/cells.js";
import { change } from "../../../kit/js/store.js";
import { mainKind, stepsOf } from "./steps.js";

export const START = { step: null, row: 0 };

export function settle(app) {
  const { run } = app.payload.header;
  if (!run) return Object.assign(app.view, START);
  const rows = run.kinds[mainKind(run)].rows.length;
  app.view.row = clamp(app.view.row, 0, rows - 1);
  const key = `${app.payload.header.base}|${app.view.row}`;
  if (app.storyKey !== key) {
    const floats = (at, length) => app.payload.array(Float32Array, at, length);
    app.steps = stepsOf(app.payload.header, floats, app.view.row);
    app.storyKey = key;
  }
  if (app.view.step !== null) app.view.step = clamp(app.view.step, 0, app.steps.length - 1);
}

export const stepInView = ({ steps, view }) => (view.step === null ? null : (steps?.[view.step] ?? null));

export function walk(app, by) {
  if (!app.payload.header.run) return;
  const { step } = app.view;
  change(app, { step: step === null ? (by > 0 ? 0 : app.steps.length - 1) : step + by });
}

export const FILM = {
  name: "step",
  beat: 4200, // a caption is read before the next one comes
  last: ({ steps }) => steps.length - 1,
  goTo: (app, step) => change(app, { step }),
  text: ({ view, steps }) =>
    view.step === null ? `${steps.length} steps` : `step ${view.step + 1} of ${steps.length}`,
};
