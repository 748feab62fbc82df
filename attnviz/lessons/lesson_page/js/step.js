// A step: its text, its picture, and the question with hints, answer and verdict.

import { element, button } from "../../../kit/js/elements.js";
import { controlsOf, toldRow } from "./controls.js";
import { stepPicture } from "./picture.js";
import { isOver } from "./progress.js";
import { scoreAnswer } from "./scoring.js";
import { verdictOf } from "./verdict.js";
import { phrase } from "./words.js";

const SPOTS = {
  row: phrase("Look at the row that the question names: it is marked on the map."),
  map: phrase("Look at the large map."),
  grid: phrase("Look at the grid of all heads."),
  strip: phrase("Look at the sentences above the maps."),
};

// `page` has the lesson, the words (`say`), the progress and the widgets; `done()` hears that something was answered,
// skipped or hinted. Returns { nodes, begin, end }: `begin` once the nodes are in the page.
export function stepOf(page, at, done) {
  const { lesson, say, progress } = page;
  const step = lesson.steps[at];
  const { question } = step;
  const did = () => progress.of(at);
  const form = element("section", { class: "form", "aria-label": say(phrase("Your answer")) });
  const box = element("section", { class: "picture", "aria-label": say(phrase("Picture")) });
  let marks = [];
  let controls = null;
  const picture = stepPicture(box, { step, say, did, marks: () => marks, marked });

  function marked(cells) {
    marks = cells;
    controls?.put?.(cells);
  }

  function changed(cells) {
    marks = cells;
    picture.redraw();
  }

  function note(what) {
    page.note(at, what);
    draw();
    picture.update();
    done();
  }

  function answer() {
    const given = controls.value();
    const { refusal } = scoreAnswer(question, given, question.truth);
    if (!refusal) return note({ given });
    form.querySelector(".refusal").textContent = say(refusal);
  }

  function draw() {
    if (!question) return;
    form.replaceChildren(...(isOver(did()) ? told() : asked()));
    if (isOver(did())) form.querySelector(".verdict").focus({ preventScroll: true });
  }

  function asked() {
    controls ??= controlsOf(question, { ...page, changed });
    const most = question.hints.length + Boolean(question.show);
    const buttons = [
      button(say(phrase("Answer")), { class: "primary", onclick: answer }),
      button(say(phrase("Skip and show")), { onclick: () => note({ isSkipped: true }) }),
    ];
    if (did().rungs < most) buttons.push(button(say(phrase("Hint")), { class: "hint", onclick: hint }));
    return [
      element("form", { onsubmit: submitted }, controls.node),
      ...hints(),
      element("p", { class: "refusal", role: "alert" }),
      element("div", { class: "buttons" }, ...buttons),
    ];
  }

  function submitted(event) {
    event.preventDefault();
    answer();
  }

  function hint() {
    note({ rungs: did().rungs + 1 });
    (form.querySelector("button.hint") ?? form.querySelector("button")).focus();
  }

  function hints() {
    const { rungs } = did();
    const texts = question.hints.slice(0, rungs);
    if (rungs > question.hints.length) texts.push(say(SPOTS[question.show]));
    const lines = texts.map((text) => element("p", { class: "hinted", text }));
    return [element("div", { role: "status" }, ...lines)];
  }

  function told() {
    const { tone, text } = verdictOf(question, did(), say);
    const why = element("div", { class: "why" });
    why.innerHTML = question.why;
    const bars = question.kind === "row" ? [toldRow(question, did().given, page)] : [];
    return [...bars, element("p", { class: "verdict", "data-tone": tone, role: "status", tabindex: -1, text }), why];
  }

  const nodes = [words(), box, form];
  if (!step.picture) box.remove();

  function words() {
    const place = say(phrase("{at} of {steps}", { at: at + 1, steps: lesson.steps.length }));
    const text = element("div", { class: "text" });
    text.innerHTML = step.text;
    const ask = question ? [element("p", { class: "ask", text: question.ask })] : [];
    const heading = element("h2", { tabindex: -1, text: step.title });
    return element("section", { class: "words" }, element("p", { class: "of", text: place }), heading, text, ...ask);
  }

  draw();
  return { nodes: step.picture ? nodes : [nodes[0], form], form, begin: picture.update, end: picture.end };
}
