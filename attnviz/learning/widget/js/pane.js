// One run: its curves, its maps or one of them large, and what it writes.

import { termNode } from "../../../kit/js/definitions.js";
import { button, element, put } from "../../../kit/js/elements.js";
import { pause } from "../../../kit/js/player.js";
import { pointIn } from "../../../kit/js/resize.js";
import { siteName } from "../../../kit/js/text.js";
import { change } from "../../../kit/js/store.js";
import { watchBoxes } from "./boxes.js";
import { atNow, goTo, kindOf, mainRun, siteOf } from "./choice.js";
import { colourOf, curveGeometry, paintCurves } from "./curves.js";
import { paintGrid } from "./grid.js";
import { paintLarge } from "./large.js";
import { accuracyMeter, accuracyText, imagesTitle, isImages } from "./images.js";
import { paintLines } from "./lines.js";
import { momentAt } from "./runs.js";
import {
  isTranslator,
  mapsNow,
  sentenceName,
  sentenceNow,
  translatorMeter,
  translatorText,
  translatorTitle,
} from "./translator.js";

export function buildPane(app) {
  const parts = {
    title: element("h2"),
    state: element("span", { class: "quiet" }),
    note: element("p", { class: "quiet absent" }),
    curves: element("canvas", { role: "img", class: "curves" }),
    meter: element("p", { class: "meter" }),
    grid: element("div", { class: "heads", "aria-label": "Every head" }),
    large: element("canvas", { role: "img" }),
    lines: element("ol", { class: "lines", "aria-label": "What it writes now" }),
  };
  const pane = { parts, cells: [] };
  const close = () => {
    change(app, { site: "" });
    pane.cells[0]?.open.focus({ preventScroll: true });
  };
  parts.back = button("All heads", { class: "link", title: "Back to all heads (Esc)", onclick: close });
  parts.largeName = element("b");
  parts.largeBox = element("div", { class: "large" }, element("div", { class: "large-map" }, parts.large));
  parts.mapsName = element("div", { class: "maps-name" }, parts.largeName, parts.back);
  parts.linesTitle = element("h3", { class: "lines-title" });
  parts.curvesBox = element("div", { class: "curves-box" }, parts.curves);
  parts.body = element(
    "div",
    { class: "run-body" },
    parts.curvesBox,
    parts.meter,
    element("div", { class: "maps" }, parts.mapsName, parts.grid, parts.largeBox),
    parts.linesTitle,
    parts.lines,
  );
  const said = element("div", { class: "said" }, parts.title, parts.state);
  pane.node = element(
    "section",
    { class: "pane run" },
    element("header", { class: "spread" }, said),
    parts.note,
    parts.body,
  );
  watchCurves(app, pane);
  watchBoxes(app, [parts.curvesBox, parts.grid, parts.large.parentElement], () => repaint(app, pane));
  return pane;
}

const linesTitle = () => ["What it writes now, on its ", termNode("own prefix"), " · ", termNode("held-out"), " lines"];

function paintLinesTitle({ run, parts }) {
  const of = isTranslator(run) ? "translator" : isImages(run) ? "images" : "toy";
  if (parts.linesTitle.dataset.of === of) return;
  parts.linesTitle.dataset.of = of;
  parts.linesTitle.replaceChildren(...{ toy: linesTitle, images: imagesTitle, translator: translatorTitle }[of]());
}

export function paintPane(app, pane, run) {
  const { parts } = pane;
  pane.run = run;
  put(parts.title, run.title);
  pane.node.setAttribute("aria-label", `Run: ${run.title}`);
  put(parts.state, stateText(run));
  const isThere = run.moments.length > 0;
  parts.note.hidden = isThere && !run.note;
  put(parts.note, run.note);
  parts.body.hidden = !isThere;
  if (!isThere) return;
  pane.at = atNow(app, run);
  pane.drawn = drawnOf(app, pane);
  paintCurves(app, pane);
  parts.curves.setAttribute("aria-label", textOf(app, run, pane.at));
  paintMeter(app, pane);
  paintLinesTitle(pane);
  paintLines(app, pane); // before the maps, which take what room is left
  paintMaps(app, pane);
}

// Repaints the parts that depend on the size of their place.
function repaint(app, pane) {
  if (!app.payload || !pane.drawn || !pane.run.moments.length) return;
  paintCurves(app, pane);
  paintMaps(app, pane);
}

// The maps of the watched line, or at the end those of a line of one's own.
function drawnOf(app, { run, at }) {
  if (isTranslator(run)) return mapsNow(app, run, at);
  const isOwn = Boolean(run.own) && app.showsOwn && at === run.moments.length - 1;
  const { kinds } = isOwn ? run.own : run.about;
  return { kinds, maps: isOwn ? run.own.maps : run.moments[at].maps, isOwn };
}

function stateText(run) {
  if (run.state === "asked") return "starts after your guess";
  if (run.state !== "live") return run.moments.length ? "" : "not there";
  const { state, ahead } = run.feed;
  if (state === "waiting") return ahead ? `${ahead} before you` : "about to start";
  return run.moments.length ? "is training" : "begins";
}

function paintMaps(app, pane) {
  const { parts, drawn } = pane;
  const site = app.view.site ? siteOf(app) : null;
  const kind = site && kindOf({ about: drawn }, site);
  parts.grid.hidden = Boolean(site);
  parts.largeBox.hidden = parts.back.hidden = !site;
  const first = isTranslator(pane.run) ? sentenceName(sentenceNow(app, pane.run)) : "first line";
  const line = isImages(pane.run)
    ? "where [CLS] looks on the first image"
    : drawn.isOwn
      ? "your line, as the model writes it"
      : `${first}, teacher’s prefix`;
  if (site)
    put(
      parts.largeName,
      kind
        ? `${kind.title}, ${siteName(site[1], site[2])} · ${line}${isImages(pane.run) ? "" : `: ${kind.question}`}`
        : `There is no ${siteName(site[1], site[2])} here`,
    );
  else put(parts.largeName, `Every head · ${line}`);
  if (!site) paintGrid(app, pane);
  else if (kind) paintLarge(app, pane, [kind, site[1], site[2]]);
}

const percent = (share) => `${Math.round(share * 100)}%`;

// The gap of both matches is the leak: for a causal model they are equal at every moment.
function paintMeter(app, pane) {
  if (isTranslator(pane.run)) {
    pane.meterKey = "";
    return pane.parts.meter.replaceChildren(...translatorMeter(app, pane));
  }
  if (isImages(pane.run)) {
    pane.meterKey = "";
    return pane.parts.meter.replaceChildren(...accuracyMeter(app, pane, colourOf(app, "own")));
  }
  const { teacher, own, loss } = pane.run.moments[pane.at];
  const gap = teacher - own;
  const { floor } = pane.run.about;
  const isBelow = floor !== null && loss !== null && loss < floor;
  const text = [percent(teacher), percent(own), percent(gap), loss].join();
  if (pane.meterKey === text + app.theme.name) return;
  pane.meterKey = text + app.theme.name;
  const swatch = (name) => element("i", { class: `swatch ${name}`, style: `border-color:${colourOf(app, name)}` });
  const item = (...nodes) => element("span", {}, ...nodes);
  pane.parts.meter.replaceChildren(
    item(
      swatch("teacher"),
      termNode("teacher’s prefix", "teacher prefix"),
      element("b", { text: ` ${percent(teacher)}` }),
    ),
    item(swatch("own"), termNode("own prefix"), element("b", { text: ` ${percent(own)}` })),
    item(termNode("gap", "leak meter"), element("b", { class: gap > 0.02 ? "leaks" : "", text: ` ${percent(gap)}` })),
    item(
      termNode("loss", "training loss"),
      element("b", { class: isBelow ? "leaks" : "", text: ` ${loss === null ? "–" : loss.toFixed(4)}` }),
      isBelow ? ", too low without seeing the answers" : "",
    ),
  );
}

function textOf(app, run, at) {
  if (isTranslator(run)) return translatorText(app, run, at);
  return isImages(run) ? accuracyText(run, at) : curvesText(run, at);
}

function curvesText(run, at) {
  const { step, teacher, own, loss } = run.moments[at];
  const said = loss === null ? "" : `, loss ${loss.toFixed(4)}`;
  return `After ${step} updates: exact match ${percent(teacher)} on the teacher's prefix, ${percent(own)} on its own${said}.`;
}

// A press on the curves goes to that moment; a drag walks. A finger's press counts when it is up: it may scroll the page.
function watchCurves(app, pane) {
  const { curves } = pane.parts;
  const go = (event) => {
    const size = [curves.clientWidth, curves.clientHeight];
    const step = curveGeometry(pane.run, size).stepAt(pointIn(curves, event)[0]);
    pause(app);
    goTo(app, momentAt(mainRun(app).moments, step));
  };
  curves.onpointerdown = (event) => {
    curves.setPointerCapture(event.pointerId);
    if (event.pointerType !== "touch") go(event);
  };
  curves.onpointermove = (event) => event.buttons && go(event);
  curves.onpointerup = (event) => event.pointerType === "touch" && go(event);
}
