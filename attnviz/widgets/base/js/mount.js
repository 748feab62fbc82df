// A tab of the Heads page from its first moment on: built, given data, fitted into the window, saved to files.

import { watchDefinitions } from "../../shared/js/definitions.js";
import { liveRegion } from "../../shared/js/live_region.js";
import { mount } from "../../shared/js/mount.js";
import { fillWindow, refitSoon, watchSize } from "../../shared/js/resize.js";
import { SETTLE_MS, adopt, createApp } from "../../shared/js/store.js";
import { readTheme } from "../../shared/js/theme.js";
import { scalesIn, unpack } from "../../shared/js/unpack.js";
import { paintTable } from "./table.js";

const LEAST_HEIGHT = 430; // below this height the page scrolls

// What a tab brings, besides `start`, `settle`, `paint` and `siteOf` (shared/js/store.js):
//   atOnce      names of choices that only Python can answer
//   buildShell  `(app)`: its fixed parts
//   figure      `(app, pen, context)`: draws the picture for a file, and returns as SVG what a pen has no stroke for
//   figureSize, figureName, csvRows   `(app)`
//   moreFiles   further entries of the menu that saves, [text, act(app)], if any
export function tab(widget) {
  const reportAfter = (app, patch) => (widget.atOnce.some((name) => name in patch) ? 0 : SETTLE_MS);
  const paint = (app, began) => {
    widget.paint(app, began);
    paintTable(app);
  };
  const whole = { ...widget, fit, paint, reportAfter };
  return mount((root) => start(root, whole), receive);
}

function start(root, widget) {
  const app = createApp(root, widget);
  widget.buildShell(app);
  app.parts.live = liveRegion();
  root.append(app.parts.live);
  watchDefinitions(app);
  watchSize(app, root);
  return app;
}

// What every tab's header holds, attnviz/widgets/base/payload.py says.
function decodePayload(bytes) {
  const payload = unpack(bytes);
  return { ...payload, scales: scalesIn(payload) };
}

function receive(app, data) {
  const began = performance.now();
  const payload = decodePayload(data);
  const before = app.payload?.header;
  if (before?.id === payload.header.id) app.payload.header.view = payload.header.view;
  else app.payload = payload;
  readTheme(app);
  adopt(app);
  fit(app);
  app.widget.paint(app, began);
  refitSoon(app);
}

function fit(app) {
  const [width, height] = fillWindow(app.root, LEAST_HEIGHT);
  const size = `${width}x${height}`;
  const changed = app.size !== size;
  app.size = size;
  return changed && width > 0;
}
