// A picture that walks by itself, a beat at a time, until its end or until somebody stops it.

import { report } from "./store.js";

// `film` says how long a `beat` is, in milliseconds, whether it `isOver`, how it begins and goes on (`begin`, `next`), and
// what `paint`s its buttons.
export function playFilm(app, film) {
  if (app.playing) return pauseFilm(app, film);
  if (film.isOver(app)) film.begin(app);
  app.playing = setInterval(() => {
    if (!app.root.isConnected || film.isOver(app)) return pauseFilm(app, film);
    film.next(app);
    if (film.isOver(app)) pauseFilm(app, film);
  }, film.beat);
  film.paint(app);
}

export function pauseFilm(app, film) {
  if (!app.playing) return;
  clearInterval(app.playing);
  app.playing = null;
  film.paint(app);
  if (app.root.isConnected) report(app);
}
