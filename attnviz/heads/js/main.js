// Every head small, one in focus, and the row that is pinned (kit/js/base/picture.js).

import { picture } from "../../kit/js/base/picture.js";
import { announce } from "../../kit/js/live_region.js";
import { fillPlace, tellPainted } from "../../kit/js/resize.js";
import { adopt, reportSoon } from "../../kit/js/store.js";
import { MOST_BARS, barNodes, paintBars } from "./bars.js";
import { rememberSite, reportAfter, settle } from "./choice.js";
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

function receive(app, before) {
  const { base, cells, lesson } = app.payload.header;
  const isOtherText = before?.base !== base;
  if (isOtherText) app.hover = null;
  if (isOtherText || before.cells?.measure !== cells?.measure) app.maps.clear();
  const zoomed = JSON.stringify(app.view?.zoom ?? null);
  adopt(app);
  if (before && isOtherText && app.view.zoom && JSON.stringify(app.view.zoom) === zoomed) leaveZoom(app);
  if (!lesson?.most) app.view.marks = [];
  noticeAnswer(app, before?.lesson, paintOverlay);
  setTimeout(() => barNodes(app, 0, MOST_BARS), 400);
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
  fillPlace(app, LEAST_HEIGHT);
  const { mapBox, gridBox } = app.parts;
  const sizes = { map: [mapBox.clientWidth, mapBox.clientHeight], grid: [gridBox.clientWidth, gridBox.clientHeight] };
  const changed = JSON.stringify(sizes) !== JSON.stringify({ map: app.sizes.map, grid: app.sizes.grid });
  if (sizes.map[0] > 0) app.sizes = sizes;
  return changed && sizes.map[0] > 0;
}

export default picture({
  start: { marks: [] },
  state: () => ({ maps: new Map(), sizes: {}, shaded: [] }),
  watched: ({ parts }) => [parts.mapBox, parts.gridBox],
  buildShell,
  decode: decodePayload,
  receive,
  settle,
  fit,
  paint,
  paintRow,
  reportAfter,
  siteOf,
  isWhole: ({ payload: { exact, kinds } }) =>
    exact.size === [...kinds.values()].reduce((sum, { layers, heads }) => sum + layers * heads, 0),
});
