// What arrives, and how all of it is painted.

import { announce } from "../../shared/js/live_region.js";
import { mount } from "../../shared/js/mount.js";
import { fillWindow, refitSoon, tellPainted } from "../../shared/js/resize.js";
import { adopt, createApp, reportSoon } from "../../shared/js/store.js";
import { readTheme } from "../../shared/js/theme.js";
import { MOST_BARS, barNodes, paintBars } from "./bars.js";
import { START, rememberSite, reportAfter, settle } from "./choice.js";
import { paintControls } from "./controls.js";
import { siteOf } from "./exports.js";
import { paintFocus, paintTitle, titleOf } from "./map/focus.js";
import { noticeAnswer } from "./map/answer.js";
import { paintOverlay } from "./map/overlay.js";
import { followPointer } from "./map/pointer.js";
import { paintOverview } from "./overview/overview.js";
import { decodePayload } from "./payload.js";
import { buildShell } from "./shell.js";
import { bringIntoView, nameWeight, paintStrip } from "./strip.js";
import { activeText, subjectOf } from "./subject.js";

const LEAST_HEIGHT = 470; // below this height the page scrolls

const WIDGET = { start: START, settle, fit, paint, paintRow, reportAfter, siteOf };

function start(root) {
  const app = createApp(root, WIDGET, { maps: new Map(), sizes: {}, shaded: [] });
  buildShell(app);
  return app;
}

function receive(app, data) {
  const began = performance.now();
  const payload = decodePayload(data);
  const before = app.payload?.header;
  if (before?.base !== payload.header.base) app.hover = null;
  if (before?.base !== payload.header.base || before.cells?.measure !== payload.header.cells?.measure) app.maps.clear();
  const isSame = before?.id === payload.header.id;
  app.payload = isSame ? app.payload : payload;
  if (
    !isSame ||
    before.view.seq !== payload.header.view.seq ||
    JSON.stringify(before.view) !== JSON.stringify(payload.header.view)
  ) {
    app.payload.header.view = payload.header.view;
    const zoomed = JSON.stringify(app.view?.zoom ?? null);
    adopt(app);
    const isOtherText = before && before.base !== payload.header.base;
    if (isOtherText && app.view.zoom && JSON.stringify(app.view.zoom) === zoomed) leaveZoom(app);
  }
  if (!payload.header.lesson?.most) app.view.marks = [];
  noticeAnswer(app, before?.lesson, paintOverlay);
  readTheme(app);
  fit(app);
  paint(app, began);
  setTimeout(() => barNodes(app, 0, MOST_BARS), 400);
  refitSoon(app);
}

// A zoom into another text's rows and columns means nothing; the address hears of it too.
function leaveZoom(app) {
  app.view.zoom = null;
  app.seq += 1;
  reportSoon(app);
}

function paint(app, began) {
  if (!app.payload || !app.sizes.map) return;
  rememberSite(app);
  app.root.toggleAttribute("data-pinned", app.view.row !== null);
  app.root.toggleAttribute("data-several", app.view.compare === "side" && app.view.pins.length > 1);
  paintFocus(app);
  followPointer(app);
  paintOverlay(app);
  paintTitle(app);
  paintOverview(app);
  paintControls(app);
  paintRow(app);
  announce(app, `${titleOf(app)[0]}. ${activeText(app)}`);
  tellPainted(app, began);
}

// All that speaks of the pinned row, or of the one under the pointer.
function paintRow(app) {
  const subject = subjectOf(app);
  paintStrip(app, subject);
  nameWeight(app, app.pointedToken); // it may be pointed at still
  paintBars(app, subject);
  bringIntoView(app.queried);
}

function fit(app) {
  fillWindow(app.root, LEAST_HEIGHT);
  const { mapBox, gridBox } = app.parts;
  const sizes = { map: [mapBox.clientWidth, mapBox.clientHeight], grid: [gridBox.clientWidth, gridBox.clientHeight] };
  const changed = JSON.stringify(sizes) !== JSON.stringify({ map: app.sizes.map, grid: app.sizes.grid });
  if (sizes.map[0] > 0) app.sizes = sizes;
  return changed && sizes.map[0] > 0;
}

export default mount(start, receive);
