// The view: the step, the head whose bar is opened, the order of the bars, and whether drops stand beside.

import { change } from "../../../kit/js/store.js";

export const AT_ONCE = ["step", "drops"]; // only Python runs the model

export function settle(app) {
  if (!barOf(app)) app.view.opened = "";
}

export const barOf = ({ payload, view }) =>
  payload.header.bars.find(({ head }) => head && head === view.opened) ?? null;

// Bars as they stand: the largest first, or as the model adds them up.
export function ordered({ payload, view }) {
  const { bars } = payload.header;
  if (view.order === "model") return bars;
  return [...bars].sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
}

export const open = (app, bar) => change(app, { opened: bar.head && bar.head !== app.view.opened ? bar.head : "" });
