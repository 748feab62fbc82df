// What arrives, and how all of it is painted.

import { mount } from "../../shared/js/mount.js";
import { paintPlayer, stopPlaying } from "../../shared/js/player.js";
import { tellPainted, tellSize } from "../../shared/js/resize.js";
import { adopt, createApp } from "../../shared/js/store.js";
import { readTheme } from "../../shared/js/theme.js";
import { paintCandidates } from "./candidates.js";
import { FILM, reportAfter, settle } from "./choice.js";
import { siteOf } from "./exports.js";
import { mapsText, paintMaps } from "./maps.js";
import { decodePayload } from "./payload.js";
import { refreshTip } from "./pointer.js";
import { buildShell } from "./shell.js";
import { paintSite } from "./site.js";
import { paintTraining } from "./training.js";

const WIDGET = { film: FILM, settle, fit, paint, reportAfter, siteOf };

function start(root) {
  const app = createApp(root, WIDGET, { sizes: {}, playing: null });
  buildShell(app);
  return app;
}

function receive(app, data) {
  const began = performance.now();
  const payload = decodePayload(data);
  const before = app.payload?.header;
  if (before && before.id !== payload.header.id) stopPlaying(app);
  app.payload = before?.id === payload.header.id ? { ...app.payload, header: payload.header } : payload;
  if (JSON.stringify(before?.view) !== JSON.stringify(payload.header.view) || before.id !== payload.header.id)
    adopt(app);
  readTheme(app);
  fit(app);
  paint(app, began);
}

function paint(app, began) {
  if (!app.payload || !app.sizes.map) return;
  paintMaps(app);
  refreshTip(app);
  paintPlayer(app);
  paintSite(app);
  paintCandidates(app);
  paintTraining(app);
  app.parts.live.textContent = app.playing ? "" : mapsText(app);
  tellPainted(app, began);
}

function fit(app) {
  tellSize(app.root);
  const { mapBox } = app.parts;
  const size = [mapBox.clientWidth, mapBox.clientHeight];
  const changed = JSON.stringify(size) !== JSON.stringify(app.sizes.map);
  if (size[0] > 0) app.sizes.map = size;
  return changed && size[0] > 0;
}

export default mount(start, receive);
