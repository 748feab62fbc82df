// Walking the steps: buttons, slider, play, keys.

import { termNode } from "../../shared/js/definitions.js";
import { fillSelect, numbered } from "../../shared/js/lists.js";
import { pauseFilm, playFilm } from "../../shared/js/playing.js";
import { change } from "../../shared/js/store.js";
import { goTo } from "./choice.js";

const BEAT_MS = 650;

export function paintPlayer(app) {
  const { parts, view } = app;
  const { steps, way, opens } = app.payload.header;
  const last = steps.length - 1;
  parts.slider.max = String(last);
  parts.slider.value = String(view.step);
  parts.slider.setAttribute("aria-valuetext", `step ${view.step} of ${last}`);
  parts.at.textContent = `step ${view.step} of ${last}`;
  parts.opens.textContent = `Open step ${view.step} in Heads`;
  parts.opens.hidden = !opens;
  paintWay(app, way);
  parts.play.textContent = app.playing ? "Pause" : "Play";
  parts.play.setAttribute("aria-label", app.playing ? "Pause" : "Play");
  parts.first.disabled = parts.back.disabled = view.step === 0;
  parts.next.disabled = parts.last.disabled = view.step === last;
  const named = (length, letter) => [...numbered(length, letter), ["mean", "mean"]];
  const most = (name) => Math.max(...app.payload.kinds.map((kind) => kind[name]));
  fillSelect(parts.layer, named(most("layers"), "L"), String(view.layer));
  fillSelect(parts.head, named(most("heads"), "H"), String(view.head));
}

// How it was decoded, and what the maps below are.
function paintWay(app, way) {
  const {
    parts,
    payload: { header },
  } = app;
  if (app.wayKey === header.id) return;
  app.wayKey = header.id;
  const nodes = way.flatMap(([text, name], i) => [i ? " · " : "", termNode(text, name)]);
  parts.way.replaceChildren(...nodes, " · ", termNode("one pass", "One pass"), " beside ", termNode("steps", "Steps"));
}

export const siteChoice = (text) => (text === "mean" ? "mean" : Number(text));

const FILM = {
  beat: BEAT_MS,
  isOver: ({ payload, view }) => view.step >= payload.header.steps.length - 1,
  begin: (app) => change(app, { step: 0 }),
  next: (app) => goTo(app, app.view.step + 1),
  paint: paintPlayer,
};

export const play = (app) => playFilm(app, FILM);

export const pause = (app) => pauseFilm(app, FILM);

export function watchKeys(app) {
  app.root.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const { step } = app.view;
    const last = app.payload.header.steps.length - 1;
    const moves = {
      ArrowLeft: step - 1,
      ArrowRight: step + 1,
      ArrowUp: step - 1,
      ArrowDown: step + 1,
      Home: 0,
      End: last,
    };
    if (event.key in moves) {
      pause(app);
      goTo(app, moves[event.key]);
    } else if (event.key === " " && event.target.tagName !== "BUTTON") play(app);
    else return;
    event.preventDefault();
  };
}
