// The view: the step that is asked about, and the patched cells, in the order in which they were patched.

import { change } from "../../../kit/js/store.js";

export const AT_ONCE = ["step", "put"]; // only Python runs the model
export const MOST = 200; // patched cells (attnviz/causes/patching/patching.py)

export function settle() {}

// A cell's name in links, such as cross.1.3 or encoder.e.4.
export const nameOf = ({ where, first_layer: first }, row, col) =>
  `${where}.${row + first < 0 ? "e" : row + first}.${col}`;

const put = (app, cells) => change(app, { put: cells.slice(0, MOST) });

export function toggle(app, name) {
  const cells = app.view.put;
  put(app, cells.includes(name) ? cells.filter((cell) => cell !== name) : [...cells, name]);
}

export const add = (app, names) => put(app, [...new Set([...app.view.put, ...names])]);

export const undo = (app) => put(app, app.view.put.slice(0, -1));

export const undoAll = (app) => put(app, []);

// The step whose answers differ next most, and after the last the first again.
export function nextStep(app) {
  const { steps, step } = app.payload.header;
  const order = [...steps].sort((one, other) => other.difference - one.difference).map((each) => each.step);
  const now = app.view.step ?? step;
  change(app, { step: order[(order.indexOf(now) + 1) % order.length] });
}
