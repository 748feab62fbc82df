// The pointer on the maps: hover says the exact weight, a click or a tap pins a row, a drag zooms, a double click zooms
// out. A finger's drag scrolls the page; two fingers zoom.

import { pointIn } from "../../../kit/js/resize.js";
import { watchPinch } from "../../../kit/js/touch/pinch.js";
import { hideTip, placeTip } from "../../../kit/js/tip.js";
import { choose } from "../choice.js";
import { drawnMeasure } from "../measures.js";
import { asksCells, toggleMark } from "./answer.js";
import { cellAt, colAt, rowAt } from "./geometry.js";
import { paintOverlay } from "./overlay.js";
import { isInFocus } from "./tiles.js";
import { tipLines } from "./tip_lines.js";
import { pinchZoom, siteIn, zoomInto } from "./zoom.js";

export function watchPointer(app) {
  const { overlay } = app.parts;
  overlay.onpointermove = (event) => hoverAt(app, event);
  overlay.onpointerleave = () => {
    if (!app.press) endHover(app);
    app.point = null;
  };
  overlay.onpointerdown = (event) => {
    if (event.button) return; // a right click opens a menu and pins nothing
    const at = pointOf(app, event);
    app.press = { at, tile: tileAt(app, at), isFinger: event.pointerType === "touch" };
    overlay.setPointerCapture(event.pointerId);
  };
  overlay.onpointerup = (event) => release(app, event);
  overlay.onpointercancel = () => {
    app.press = app.dragged = null;
  };
  overlay.ondblclick = () => {
    choose(app, { zoom: null });
  };
  watchPinch(overlay, {
    grasp: (point) => grasped(app, point),
    move: (tile, fingers) => pinchZoom(app, tile, fingers),
  });
}

// The map that two fingers grasp; no tap acts on it then.
function grasped(app, point) {
  const tile = tileAt(app, point);
  if (tile) app.press = app.dragged = null;
  return tile;
}

const pointOf = (app, event) => pointIn(app.parts.overlay, event);

const tileAt = (app, [x, y]) =>
  app.tiles.find(({ geometry: { box } }) => x >= box.x && x < box.x + box.w && y >= box.y && y < box.y + box.h) ?? null;

function hoverAt(app, event) {
  app.point = pointOf(app, event);
  if (app.press && drag(app, app.point)) return;
  const hover = hoverUnder(app, app.point);
  if (!hover) return endHover(app);
  if (app.hover?.key !== hover.key) {
    app.hover = hover;
    paintOverlay(app);
    if (app.view.row === null) app.widget.paintRow(app);
  }
  showTip(app);
}

function hoverUnder(app, point) {
  const tile = tileAt(app, point);
  const cell = tile && cellAt(tile.geometry, point);
  if (!tile) return null;
  const row = cell ? cell.row : rowAt(tile.geometry, point);
  const col = cell ? cell.col : row === null ? colAt(tile.geometry, point) : null;
  if (row === null && col === null) return null;
  const at = app.tiles.indexOf(tile);
  return { key: `${at}/${row}/${col}`, kind: tile.kind.kind, tile: at, row, col };
}

function endHover(app) {
  if (!app.hover) return;
  app.hover = null;
  hideTip(app.parts.tip);
  paintOverlay(app);
  if (app.view.row === null) app.widget.paintRow(app);
}

function showTip(app) {
  const { tip } = app.parts;
  const { row, col, tile } = app.hover;
  tip.replaceChildren(...tipLines(app.tiles[tile], row, col, drawnMeasure(app).name));
  placeTip(tip, app.parts.mapBox, app.point);
}

function drag(app, [x, y]) {
  if (app.press.isFinger) return false; // it scrolls the page; two zoom
  const [fromX, fromY] = app.press.at;
  if (!app.press.tile || (!app.dragged && Math.hypot(x - fromX, y - fromY) < 8)) return Boolean(app.dragged);
  app.dragged = [Math.min(x, fromX), Math.min(y, fromY), Math.abs(x - fromX), Math.abs(y - fromY)];
  hideTip(app.parts.tip);
  paintOverlay(app);
  return true;
}

// A click on a row pins it, or lets it go; a click on another map than the one in focus brings that one into focus too.
function pinnedAt(app, tile, row) {
  const { kind, signed } = tile;
  const isHere = signed ? kind.kind === app.view.kind : isInFocus(app, tile);
  if (isHere) return { row: row === app.view.row ? null : row };
  return { ...(signed ? { kind: kind.kind } : siteIn(tile)), row };
}

function release(app, event) {
  const { press, dragged } = app;
  app.press = app.dragged = null;
  if (!press?.tile) return;
  if (dragged) return zoomInto(app, press.tile, dragged);
  const point = pointOf(app, event);
  const cell = cellAt(press.tile.geometry, point);
  if (cell && asksCells(app, press.tile)) return toggleMark(app, cell);
  const row = rowAt(press.tile.geometry, point);
  if (row !== null) choose(app, pinnedAt(app, press.tile, row));
}

// Another map may have come under a pointer that rests: by an arrow key, another sentence, another size.
export function followPointer(app) {
  if (app.press) return;
  app.hover = app.point && hoverUnder(app, app.point);
  if (app.hover) showTip(app);
  else hideTip(app.parts.tip);
}
