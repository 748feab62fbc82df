// A model as a drawing, and one run's numbers on their way through it.

import { watchDefinitions } from "../../shared/js/definitions.js";
import { liveRegion } from "../../shared/js/live_region.js";
import { mount } from "../../shared/js/mount.js";
import { tellSize, watchSize } from "../../shared/js/resize.js";
import { createApp } from "../../shared/js/store.js";
import { readTheme } from "../../shared/js/theme.js";
import { unpack } from "../../shared/js/unpack.js";
import { buildShell, paint } from "./shell.js";
import { FILM, START, settle } from "./story.js";

const WIDGET = { film: FILM, settle, fit, paint, reportAfter: () => null, siteOf: () => "" };
const shown = mount(start, receive);

export default function (component) {
  const root = component.parentElement.querySelector("[lang=und]");
  if (root) root.go = (place) => component.setTriggerValue?.("go", place);
  shown(component);
}

function start(root) {
  const app = createApp(root, WIDGET, { view: { ...START, opened: [] } });
  buildShell(app);
  app.parts.live = liveRegion();
  root.append(app.parts.live);
  watchDefinitions(app);
  watchSize(app, root);
  return app;
}

function receive(app, data) {
  const began = performance.now();
  const payload = unpack(data);
  if (app.payload?.header.base !== payload.header.base)
    Object.assign(app.view, START, { row: payload.header.run?.row ?? 0 });
  app.payload = payload;
  app.send = () => {}; // which step is in view is nobody else’s business
  readTheme(app);
  settle(app);
  fit(app);
  paint(app, began);
}

function fit(app) {
  const width = tellSize(app.root);
  const changed = app.width !== width;
  app.width = width;
  return changed && width > 0;
}
