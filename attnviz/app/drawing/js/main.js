// A model as a drawing, and one run's numbers on their way through it.

import { picture } from "../../../kit/js/base/picture.js";
import { tellSize } from "../../../kit/js/resize.js";
import { unpack } from "../../../kit/js/unpack.js";
import { buildShell, paint } from "./shell.js";
import { FILM, START, settle } from "./story.js";

const shown = picture({
  state: () => ({ view: { opened: [] } }),
  film: FILM,
  buildShell,
  decode: unpack,
  receive,
  settle,
  fit,
  paint,
  reportAfter: () => null,
  siteOf: () => "",
});

export default function (component) {
  const root = component.parentElement.querySelector("[lang=und]");
  if (root) root.go = (place) => component.setTriggerValue?.("go", place);
  return shown({ ...component, setStateValue: () => {} }); // the step in view is reported to no one
}

function receive(app, before) {
  const { base, run } = app.payload.header;
  if (before?.base !== base) Object.assign(app.view, START, { row: run?.row ?? 0 });
  settle(app);
}

function fit(app) {
  const width = tellSize(app.root);
  const changed = app.width !== width;
  app.width = width;
  return changed && width > 0;
}
