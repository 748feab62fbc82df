// The view: the moment, the head that is drawn large, the guess. The browser's own choice holds.

import { clamp } from "../../../kit/js/cells.js";
import { SETTLE_MS, change } from "../../../kit/js/store.js";
import { momentAt } from "./runs.js";

export const lastOf = (app) => Math.max(0, (mainRun(app)?.moments.length ?? 0) - 1);

// The run whose moments the slider walks: the one that has come farthest.
export function mainRun(app) {
  const begun = app.payload.runs.filter(({ moments }) => moments.length);
  return begun.sort((a, b) => b.moments.at(-1).step - a.moments.at(-1).step)[0] ?? null;
}

// Updates so far, and which moment of a run that is.
export const stepNow = (app) => mainRun(app)?.moments[app.view.moment]?.step ?? 0;
export const atNow = (app, run) => momentAt(run.moments, stepNow(app));

export const isLive = (app) => app.payload.runs.some(({ state }) => state === "live");

export function settle(app) {
  const { view } = app;
  if (app.follows) view.moment = lastOf(app);
  if (lastOf(app)) view.moment = clamp(view.moment, 0, lastOf(app));
}

// The head that is drawn large, [kind, layer, head], where a run has it; else all are drawn.
export function siteOf(app) {
  const [name, layer, head] = app.view.site.split(".");
  const site = [name, Number(layer), Number(head)];
  return app.payload.runs.some((run) => kindOf(run, site)) ? site : null;
}

// Before a live run's first moment its kinds are unknown: a choice waits.
export function kindOf({ about, state }, [name, layer, head]) {
  if (!about) return state === "live" ? { layers: 0, heads: 0, isAwaited: true } : null;
  return about.kinds.find(({ kind, layers, heads }) => kind === name && layer < layers && head < heads) ?? null;
}

// While it plays or follows a live run, every moment would be a run of the page: Python hears where it stops. A guess may
// be what a run waits for.
export function reportAfter(app, patch) {
  if ("guess" in patch) return 0;
  return app.playing || (app.follows && isLive(app)) ? null : SETTLE_MS;
}

export function goTo(app, moment) {
  app.follows = isLive(app) && moment >= lastOf(app);
  change(app, { moment: clamp(moment, 0, lastOf(app)) });
}

// Walking the training: sixty moments in some seven seconds.
export const FILM = {
  name: "moment",
  slider: "Moment of the training",
  beat: 110,
  last: lastOf,
  goTo,
  text: momentText,
};

function momentText(app) {
  const updates = mainRun(app)?.about.updates ?? 0;
  return updates ? `update ${stepNow(app).toLocaleString("en")} of ${updates.toLocaleString("en")}` : "";
}

export const siteText = (site) => site.join(".");

export function openSite(app, site) {
  change(app, { site: app.view.site === siteText(site) ? "" : siteText(site) });
}
