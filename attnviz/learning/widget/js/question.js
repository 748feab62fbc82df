// Predict first: a question before a run begins, and the guess beside what came of it.

import { button, element } from "../../../kit/js/elements.js";
import { play } from "../../../kit/js/player.js";
import { change } from "../../../kit/js/store.js";
import { isLive, lastOf } from "./choice.js";

export const OPEN = "open"; // begun without a guess

export function questionPane(app, parts) {
  parts.question = element("section", { class: "pane question", "aria-label": "Predict first" });
  return parts.question;
}

export function paintQuestion(app) {
  const { asked } = app.payload.header;
  const state = stateOf(app, asked);
  const key = JSON.stringify([state, asked, app.view.guess]);
  if (app.questionKey === key) return;
  app.questionKey = key;
  const { question } = app.parts;
  question.hidden = state === "none";
  question.dataset.state = state;
  if (state === "ask") question.replaceChildren(...asking(app, asked));
  else if (state === "answer") question.replaceChildren(...answer(app, asked));
  else if (state === "running") question.replaceChildren(...running(app, asked));
}

function running(app, asked) {
  const said = element("b", { text: `You said: ${asked.guesses[app.view.guess]}.` });
  return [element("span", { class: "asked" }, ...titled(app, asked), said)];
}

// Which of two runs it is about.
const titled = (app, { run }) =>
  app.payload.runs.length > 1 ? [element("b", { text: `${app.payload.runs[run].title}. ` })] : [];

// The outcome stays out of sight until the run is over.
function stateOf(app, asked) {
  if (!asked) return "none";
  const { guess, moment } = app.view;
  const isOver = !isLive(app) && lastOf(app) > 0 && moment === lastOf(app);
  if (isOver) return "answer";
  if (guess && guess !== OPEN) return "running";
  const begins = app.payload.runs.some(({ state }) => state === "asked");
  return !guess && (moment === 0 || begins) && !isLive(app) && !app.playing ? "ask" : "none";
}

function asking(app, asked) {
  const guess = (name) => () => {
    change(app, { guess: name });
    if (lastOf(app) > 0) play(app);
  };
  const choices = Object.entries(asked.guesses).map(([name, text]) => button(text, { onclick: guess(name) }));
  const open = button("Just show it", { class: "link", onclick: guess(OPEN) });
  return [
    element("span", { class: "asked" }, ...titled(app, asked), asked.text),
    element("div", { class: "tools" }, ...choices, open),
  ];
}

function answer(app, asked) {
  const run = app.payload.runs[asked.run];
  const said = asked.verdict[app.view.guess];
  return [
    element(
      "span",
      { class: "asked" },
      ...titled(app, asked),
      said ? element("b", { text: `${said} ` }) : "",
      run.outcome.join(" "),
    ),
  ];
}
