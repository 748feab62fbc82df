// The mouse: on the masked scores drag paints, Shift takes a whole row or column; on the other maps a click pins the row,
// and a dragged box is zoomed to. A finger: a tap pins the row, a drag scrolls the page, two zoom; on the masked scores it
// paints while the switch for that is on.

import { range } from "../../kit/js/cells.js";
import { watchPinch } from "../../kit/js/touch/pinch.js";
import { colCells, rowCells } from "./cells.js";
import { draw, drawMaps } from "./draw.js";
import { cellAt } from "./layout.js";
import { paintCells, report, reportSoon, togglePart } from "./paint.js";
import { placeOf, showTip } from "./tip.js";
import { panBy, pinchZoom, setZoom, zoomInto } from "./zoom.js";
import { wholeMap } from "./zoom_window.js";

export function watchLabPointer(app) {
  const { map } = app.parts;
  map.onpointerdown = (event) => pressed(app, event);
  map.onpointermove = (event) => moved(app, event);
  map.onpointerup = () => released(app);
  map.onpointercancel = () => {
    app.pull = null;
    released(app);
  };
  map.ondblclick = (event) => {
    if (app.zoom && placeOf(app, event)?.box.name !== "masked") setZoom(app, wholeMap(app));
  };
  // Only a touch that is taken here does not scroll the page; a finger's acts are declared before it moves.
  map.addEventListener("touchstart", (event) => paintsAt(app, event) && event.preventDefault(), { passive: false });
  watchPinch(map, {
    grasp: (point) => grasped(app, point),
    move: (drawn, fingers) => pinchZoom(app, drawn, fingers),
  });
  map.onwheel = (event) => wheeled(app, event);
  map.onpointerleave = () => {
    app.pointer = null;
    if (!app.stroke) hoverAt(app, null);
  };
  map.onfocus = () => {
    app.focused = map.matches(":focus-visible");
    drawMaps(app);
  };
  map.onblur = () => {
    app.focused = false;
    drawMaps(app);
  };
}

const paintsAt = (app, { touches }) =>
  app.fingerPaints && touches.length === 1 && placeOf(app, touches[0])?.box.name === "masked";

// The map that two fingers grasp: one that has keys, as it is drawn now. No stroke and no tap goes on.
function grasped(app, point) {
  const place = app.layout && cellAt(app, ...point);
  if (!place?.box.keys) return null;
  app.pull = null;
  released(app);
  return { box: place.box, zoom: app.layout.zoom, cell: app.layout.cell };
}

function pressed(app, event) {
  if (event.button) return;
  const place = placeOf(app, event);
  if (!place) return;
  if (event.pointerType === "touch" && !(app.fingerPaints && place.box.name === "masked")) return tapped(app, place);
  const { k } = app.payload;
  const isPainter = place.box.name === "masked";
  if (place.row === null) {
    if (event.shiftKey || isPainter) togglePart(app, colCells(app, place.col));
    return;
  }
  if (event.shiftKey && event.altKey && place.col !== null) return togglePart(app, colCells(app, place.col));
  if (event.shiftKey) return togglePart(app, rowCells(app, place.row));
  if (!place.box.keys || place.col === null) return pinRow(app, place.row);
  if (!isPainter) return pulled(app, event, place);
  const i = place.row * k + place.col;
  app.stroke = { value: app.cells[i] ? 0 : 1, last: place };
  app.cursor = { row: place.row, col: place.col };
  app.parts.map.setPointerCapture(event.pointerId);
  event.preventDefault();
  app.parts.map.focus({ preventScroll: true });
  paintCells(app, [i], app.stroke.value);
}

// Where the finger goes on to scroll, the browser takes it back (pointercancel).
function tapped(app, place) {
  app.pull = place.row === null ? null : { from: place, to: null, isTap: true };
}

// A box begins where the pointer goes down; without a box it was a click.
function pulled(app, event, place) {
  app.pull = { from: place, to: null };
  app.parts.map.setPointerCapture(event.pointerId);
}

function wheeled(app, event) {
  if (!app.zoom || event.ctrlKey) return;
  const [right, down] = event.shiftKey ? [event.deltaX || event.deltaY, 0] : [event.deltaX, event.deltaY];
  if (panBy(app, Math.sign(down) / 8, Math.sign(right) / 8)) event.preventDefault();
}

function moved(app, event) {
  app.touched = true;
  app.pointer = { clientX: event.clientX, clientY: event.clientY };
  const place = placeOf(app, event);
  if (
    app.pull &&
    !app.pull.isTap &&
    place?.box.name === app.pull.from.box.name &&
    place.row !== null &&
    place.col !== null
  )
    app.pull.to = place;
  hoverAt(app, place);
  if (!app.stroke || place?.box.name !== "masked" || place.row === null || place.col === null) return;
  paintCells(app, between(app.stroke.last, place, app.payload.k), app.stroke.value);
  app.stroke.last = place;
}

// A quick drag skips cells: all of them on the straight line are painted.
function between(from, to, k) {
  const steps = Math.max(Math.abs(to.row - from.row), Math.abs(to.col - from.col), 1);
  return range(steps + 1).map(
    (step) =>
      Math.round(from.row + ((to.row - from.row) * step) / steps) * k +
      Math.round(from.col + ((to.col - from.col) * step) / steps),
  );
}

function released(app) {
  if (app.pull) return letGo(app);
  if (!app.stroke) return;
  app.stroke = null;
  if (app.edited) report(app);
}

// Fewer than two cells either way is no box: a hand that shook while it clicked.
function letGo(app) {
  const { from, to } = app.pull;
  app.pull = null;
  if (to && Math.abs(to.row - from.row) > 0 && Math.abs(to.col - from.col) > 0) return zoomInto(app, from, to);
  pinRow(app, from.row);
}

export function pinRow(app, row) {
  app.row = row === app.row ? null : row;
  draw(app);
  reportSoon(app);
}

function hoverAt(app, place) {
  const same = app.hover?.row === place?.row && app.hover?.col === place?.col && app.hover?.box === place?.box;
  app.hover = place;
  if (!same && app.payload && app.width) drawMaps(app);
  else showTip(app);
}
