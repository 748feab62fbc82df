// Walking the training: buttons, slider, play, keys.

import { button, element, put } from "../../shared/js/elements.js";
import { pauseFilm, playFilm } from "../../shared/js/playing.js";
import { change } from "../../shared/js/store.js";
import { goTo, lastOf, mainRun, stepNow } from "./choice.js";

const BEAT_MS = 110; // sixty moments in some seven seconds

export function playerBar(app, parts) {
  const move = (name, text, label, moment) =>
    (parts[name] = button(text, { "aria-label": label, title: label, onclick: () => walk(app, moment()) }));
  const buttons = [
    move("first", "|◀", "First moment (Home)", () => 0),
    move("back", "◀", "One moment back (←)", () => app.view.moment - 1),
    (parts.play = button("Play", { class: "strong", title: "Play (space)", onclick: () => play(app) })),
    move("next", "▶", "One moment on (→)", () => app.view.moment + 1),
    move("last", "▶|", "Last moment (End)", () => lastOf(app)),
  ];
  parts.slider = element("input", { type: "range", min: "0", value: "0", "aria-label": "Moment of the training" });
  parts.slider.oninput = () => walk(app, Number(parts.slider.value));
  parts.at = element("span", { class: "at" });
  return element("div", { class: "player" }, element("div", { class: "tools" }, ...buttons), parts.slider, parts.at);
}

export function paintPlayer(app) {
  const { parts, view } = app;
  const last = lastOf(app);
  const updates = mainRun(app)?.about.updates ?? 0;
  const said = !updates ? "" : `update ${stepNow(app).toLocaleString("en")} of ${updates.toLocaleString("en")}`;
  parts.slider.max = String(last);
  parts.slider.value = String(view.moment);
  parts.slider.setAttribute("aria-valuetext", said);
  put(parts.at, said);
  put(parts.play, app.playing ? "Pause" : "Play");
  parts.play.setAttribute("aria-label", app.playing ? "Pause" : "Play");
  parts.first.disabled = parts.back.disabled = view.moment === 0;
  parts.next.disabled = parts.last.disabled = view.moment === last;
}

function walk(app, moment) {
  pause(app);
  goTo(app, moment);
}

const FILM = {
  beat: BEAT_MS,
  isOver: (app) => app.view.moment >= lastOf(app),
  begin: (app) => change(app, { moment: 0 }),
  next: (app) => goTo(app, app.view.moment + 1),
  paint: paintPlayer,
};

export function play(app) {
  if (!app.playing) app.follows = false;
  playFilm(app, FILM);
}

export const pause = (app) => pauseFilm(app, FILM);

export function watchKeys(app) {
  app.root.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("details")) return;
    const { moment } = app.view;
    const moves = { ArrowLeft: moment - 1, ArrowRight: moment + 1, Home: 0, End: lastOf(app) };
    if (event.key in moves) walk(app, moves[event.key]);
    else if (event.key === " " && event.target.tagName !== "BUTTON") play(app);
    else if (event.key === "Escape" && app.view.site) change(app, { site: "" });
    else return;
    event.preventDefault();
  };
}
