// Maps of one head and a mask to paint: takes payloads, and settles whose edit holds, the visitor's or Python's.

import { whileAttached } from "../../kit/js/attached.js";
import { clamp, range } from "../../kit/js/cells.js";
import { mount } from "../../kit/js/mount.js";
import { heightFor, tellSize } from "../../kit/js/resize.js";
import { rowName } from "../../kit/js/text.js";
import { createApp, take } from "../../kit/js/store.js";
import { readTheme, watchTheme } from "../../kit/js/theme.js";
import { spokenText } from "../../kit/js/spans/spans.js";
import { rowCells } from "./cells.js";
import { draw, drawMaps } from "./draw.js";
import { siteOf } from "./exports.js";
import { report } from "./paint.js";
import { paintOf } from "./painting.js";
import { decodeLab } from "./payload.js";
import { preview } from "./preview.js";
import { buildLab } from "./shell.js";
import { showTip } from "./tip.js";
import { fitsMap } from "./zoom_window.js";

function start(root) {
  const app = createApp(
    root,
    { siteOf, draw, drawMaps, measure, viewOf },
    {
      answered: 0,
      row: null,
      zoom: null,
      cells: null,
      fingerPaints: false,
      width: 0,
      room: 0,
    },
  );
  buildLab(app);
  watchTheme(app, () => draw(app));
  whileAttached(app, (signal) => signal.addEventListener("abort", () => clearTimeout(app.doubt)));
  return app;
}

const viewOf = ({ row, zoom, told, payload }) => ({ row, zoom, paint: told?.paint ?? payload.header.paint });

function receive(app, data, viewBeside) {
  const payload = decodeLab(data);
  const { paint: known } = payload.header; // the paint that the numbers are of
  if (viewBeside) Object.assign(payload.header, { seq: app.seq, ...viewBeside });
  const { header, q, k } = payload;
  const shape = app.payload && app.payload.q === q && app.payload.k === k;
  const before = lookOf(app);
  const newest = !app.edited && header.seq >= app.seq;
  take(app, payload);
  app.answered = header.seq;
  app.rowNames = header.rows.map(rowName);
  app.spokenRows = app.rowNames.map((name, row) => spokenText(name, header.row_spans, row));
  // A picture that was asked for before the visitor's newest edit does not undo that edit.
  clearTimeout(app.doubt);
  if (!shape) forget(app);
  if (!shape || header.seq >= app.seq) {
    // An address that is still on its way may bring back the paint of the edit before: believe it only if it stays.
    if (shape && app.told && header.paint !== app.told.paint) doubtEdit(app);
    else adoptEdit(app);
  }
  app.seq = Math.max(app.seq, header.seq);
  readTheme(app);
  app.parts.title.textContent = app.parts.title.title = header.words.title;
  if (!shape) fitInto(app);
  if ((!newest && shape) || header.paint !== known) preview(app, rowsPaintedSince(app, known));
  if (!newest || before !== lookOf(app)) draw(app);
  else showTip(app);
  app.root.dataset.attnvizPainted = header.id;
  if (app.sent && header.seq >= app.seq) {
    app.root.dataset.attnvizRoundTrip = (performance.now() - app.sent).toFixed(0);
    app.sent = 0;
  }
  if (app.stroke && app.edited) report(app);
}

// A key of everything that a drawing depends on, besides paint that Python has not heard of. The same picture comes twice after an edit: with
// the answer to it, and with the page that follows.
function lookOf(app) {
  return app.payload && [app.payload.header.id, app.theme?.key, app.row, app.zoom, app.width].join("|");
}

// Rows whose paint is newer than the numbers that have just come.
function rowsPaintedSince(app, paint) {
  const { q, k } = app.payload;
  const told = paintOf(paint, q, k);
  return range(q).filter((row) => rowCells(app, row).some((i) => told[i] !== app.cells[i]));
}

// Another text: what was under the hand is not there any more.
function forget(app) {
  clearTimeout(app.timer);
  Object.assign(app, { timer: null, cursor: null, hover: null, pull: null });
}

// Any later picture ends the doubt; only one that stays, with nothing running any more, is believed.
function doubtEdit(app) {
  app.doubt = setTimeout(() => {
    if (app.host.isBusy()) return doubtEdit(app);
    app.told = null;
    adoptEdit(app);
    draw(app);
  }, 500);
}

function adoptEdit(app) {
  const { q, k, header } = app.payload;
  if (!app.stroke || app.cells?.length !== q * k) app.cells = paintOf(header.paint, q, k);
  if (app.timer) return; // a row or a zoom that Python has not heard of yet
  app.row = header.row !== null && header.row < q ? header.row : null;
  app.zoom = fitsMap(header.zoom, q, k) ? header.zoom : null;
}

// A new text is fitted into the window, once more when what is above has settled; never under the pointer.
function fitInto(app) {
  app.touched = false;
  measure(app);
  for (const wait of [300, 1200])
    setTimeout(() => {
      if (!app.touched && measure(app)) draw(app);
    }, wait);
}

// How wide and how high the maps may be; true when that has changed.
function measure(app) {
  if (app.stroke) return false;
  const whole = tellSize(app.root);
  const width = Math.floor(whole - 26);
  const room = roomFor(app, width);
  if (Math.abs(width - app.width) < 2 && room === app.room) return false;
  app.width = width;
  app.room = room;
  return width > 0;
}

const OTHERS = 300; // pixels of what stands around the maps, and below them on a page

// A presented picture has the whole window, less its title and legend.
function roomFor(app, width) {
  const height = heightFor(app, 0);
  if (app.root.hasAttribute("data-present")) return height - 90;
  return width < 700 ? 0 : clamp((height ?? Infinity) - OTHERS, 260, 560);
}

export default mount(start, receive);
