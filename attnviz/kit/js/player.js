// Walks a picture along one number of its view: by buttons, slider and keys, or by itself, a beat at a time.
//
// The widget's `film` (store.js) tells how:
//   name     the number in the view: "step" or "moment"; null or −1 before the first
//   slider   name of the slider
//   beat     milliseconds from one number to the next while it plays
//   last     `(app)`: the last number
//   goTo     `(app, at)`: brings a number into view
//   text     `(app)`: the number in words

import { whileAttached } from "./attached.js";
import { button, element, put } from "./elements.js";
import { report } from "./store.js";

const now = ({ view, widget }) => view[widget.film.name] ?? -1;

export function playerBar(app, ...more) {
  const { parts } = app;
  const buttons = playerButtons(app, ["first", "back", "play", "next", "last"]);
  parts.slider = element("input", { type: "range", min: "0", value: "0", "aria-label": app.widget.film.slider });
  parts.slider.oninput = () => walk(app, Number(parts.slider.value));
  const tools = element("div", { class: "tools" }, ...buttons);
  return element("div", { class: "player" }, tools, parts.slider, playerText(app), ...more);
}

export function playerButtons(app, names) {
  const { name, last } = app.widget.film;
  whileAttached(app, (signal) => signal.addEventListener("abort", () => stopPlaying(app)));
  const moves = {
    first: ["|◀", `First ${name} (Home)`, () => 0],
    back: ["◀", `One ${name} back (←)`, () => now(app) - 1],
    next: ["▶", `One ${name} on (→)`, () => now(app) + 1],
    last: ["▶|", `Last ${name} (End)`, () => last(app)],
  };
  const move = ([text, label, at]) =>
    button(text, { "aria-label": label, title: label, onclick: () => walk(app, at()) });
  const start = () => button("Play", { class: "strong", title: "Play (space)", onclick: () => play(app) });
  return names.map((one) => (app.parts[one] = one === "play" ? start() : move(moves[one])));
}

export const playerText = (app) => (app.parts.at = element("span", { class: "at" }));

export function paintPlayer(app) {
  const { parts, widget } = app;
  const [at, last, text] = [now(app), widget.film.last(app), widget.film.text(app)];
  put(parts.at, text);
  put(parts.play, app.playing ? "Pause" : "Play");
  for (const name of ["first", "back"]) if (parts[name]) parts[name].disabled = at <= 0;
  for (const name of ["next", "last"]) if (parts[name]) parts[name].disabled = at === last;
  if (!parts.slider) return;
  parts.slider.max = String(last);
  parts.slider.value = String(at);
  parts.slider.setAttribute("aria-valuetext", text);
}

// A step of the visitor's own ends the playing.
export function walk(app, at) {
  pause(app);
  app.widget.film.goTo(app, at);
}

export function play(app) {
  const { film } = app.widget;
  if (app.playing) return pause(app);
  if (isOver(app) || now(app) < 0) film.goTo(app, 0);
  app.playing = setInterval(() => {
    if (isOver(app)) return pause(app);
    film.goTo(app, now(app) + 1);
    if (isOver(app)) pause(app);
  }, film.beat);
  paintPlayer(app);
}

const isOver = (app) => now(app) >= app.widget.film.last(app);

export function pause(app) {
  if (!app.playing) return;
  stopPlaying(app);
  paintPlayer(app);
  report(app);
}

// Sends nothing to Python: the film is another one now.
export function stopPlaying(app) {
  clearInterval(app.playing);
  app.playing = null;
}

// `otherKeys(app, event)` is what a key of the widget's own does, or null.
export function watchPlayerKeys(app, otherKeys) {
  app.root.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("details, select")) return;
    const at = now(app);
    const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: app.widget.film.last(app) };
    const isPlay = event.key === " " && event.target.tagName !== "BUTTON";
    const act =
      event.key in moves ? () => walk(app, moves[event.key]) : isPlay ? () => play(app) : otherKeys(app, event);
    if (!act) return;
    event.preventDefault();
    act();
  };
}
