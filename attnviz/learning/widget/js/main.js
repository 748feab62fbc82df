// Runs of toys or of a translator, moment by moment: takes payloads, follows live runs, paints.

import { begin, windowFit } from "../../../kit/js/base/picture.js";
import { whileAttached } from "../../../kit/js/attached.js";
import { mount } from "../../../kit/js/mount.js";
import { paintPlayer, play, stopPlaying } from "../../../kit/js/player.js";
import { refitSoon, tellPainted } from "../../../kit/js/resize.js";
import { adopt, reportSoon, take } from "../../../kit/js/store.js";
import { readTheme } from "../../../kit/js/theme.js";
import { FILM, goTo, isLive, lastOf, reportAfter, settle } from "./choice.js";
import { siteOf } from "./exports.js";
import { paintPane } from "./pane.js";
import { decodePayload } from "./payload.js";
import { paintQuestion } from "./question.js";
import { buildShell, fitPanes, paintLineChoice } from "./shell.js";

const WIDGET = {
  state: () => ({ panes: [], playing: null, follows: false, showsOwn: false, heard: [] }),
  film: FILM,
  buildShell,
  settle,
  fit: windowFit(640),
  paint,
  reportAfter,
  siteOf,
  isWhole: ({ payload }) => payload.runs.every(({ packed }) => packed),
};

async function receive(app, data, viewBeside) {
  const began = performance.now();
  app.newest = data;
  const payload = await decodePayload(data);
  if (app.newest !== data) return; // another came while this one was unpacked
  const before = app.payload;
  take(app, payload, viewBeside);
  if (before && before.header.view.of !== payload.header.view.of) beginAnew(app, payload);
  const isNewLine = lineOf(payload) && lineOf(payload) !== (before ? lineOf(before) : "");
  if (isNewLine) app.showsOwn = true;
  listen(app);
  readTheme(app);
  fitPanes(app);
  followed(app, before);
  WIDGET.fit(app);
  paint(app, began);
  if (before && isNewLine) goTo(app, lastOf(app)); // where it has been read
  if (isRemembered(app, before)) play(app);
  refitSoon(app);
}

// A run that waited for a guess, and turns out to have been trained before: it plays as if it were trained now.
const isRemembered = ({ payload, view }, before) =>
  before?.runs.some(({ state }) => state === "asked") &&
  payload.runs.every(({ trained }) => trained) &&
  view.moment === 0;

const lineOf = ({ runs }) => runs.find(({ own }) => own)?.own.src.join(" ") ?? "";

// Other runs have other moments, and so has the same one recorded: what was in view of the last is no choice among these.
function beginAnew(app, { header }) {
  stopPlaying(app);
  clearTimeout(app.timer); // a choice that was not told yet is none any more
  app.follows = false;
  app.seq = header.view.seq ?? 0;
}

// A live run is followed to its end, unless the visitor looks at an earlier moment; Python hears where that is. Of one
// that failed there is no end: what is there is a recording of another day, from its beginning.
function followed(app, before) {
  const wasLive = before?.runs.some(({ state }) => state === "live");
  if (isLive(app) && !wasLive) app.follows = true;
  const isOver = wasLive && !isLive(app);
  const isTrained = app.payload.runs.every(({ trained }) => trained);
  if (isOver && !isTrained) app.follows = false;
  const { view, seq } = app;
  adopt(app);
  if (!isOver || !isTrained) return;
  if (app.follows) {
    app.follows = false;
    app.view.moment = lastOf(app);
    app.seq += 1;
    reportSoon(app, 0);
  } else if (view && seq > app.payload.header.view.seq) app.view.moment = view.moment;
}

function listen(app) {
  hearNoMore(app);
  const hear = () => hearNews(app);
  app.heard = app.payload.runs
    .filter(({ state }) => state === "live")
    .map(({ feed }) => {
      feed.hear.add(hear);
      return () => feed.hear.delete(hear);
    });
}

const hearNoMore = (app) => app.heard.forEach((stop) => stop());

function hearNews(app) {
  const began = performance.now();
  settle(app);
  paint(app, began);
}

function paint(app, began) {
  if (!app.payload || !app.size) return;
  paintQuestion(app);
  paintPlayer(app);
  paintLineChoice(app);
  app.panes.forEach((pane, i) => paintPane(app, pane, app.payload.runs[i]));
  const [first] = app.panes;
  app.parts.live.textContent = app.playing || isLive(app) ? "" : (first?.parts.curves.getAttribute("aria-label") ?? "");
  tellPainted(app, began);
}

function start(root) {
  const app = begin(root, WIDGET);
  whileAttached(app, (signal) => signal.addEventListener("abort", () => hearNoMore(app)));
  return app;
}

export default mount(start, receive);
