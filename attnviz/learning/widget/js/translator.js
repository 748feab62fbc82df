// How a translator learned: what differs from a toy's run. Its curves are a loss and scores of each language, it has
// maps of several sentences, and what it writes is text (attnviz/learning/widget/payload.py packs it).

import { range } from "../../../kit/js/cells.js";
import { termNode } from "../../../kit/js/definitions.js";
import { element, put } from "../../../kit/js/elements.js";
import { change } from "../../../kit/js/store.js";
import { isolated } from "../../../kit/js/text.js";
import { withPlaces } from "./runs.js";

// Apart for every kind of colour blindness, and each with a dash of its own.
const COLOURS = {
  light: ["#4f46e5", "#bf6d2b", "#0f766e", "#a21caf"],
  dark: ["#9a92ff", "#f0a35b", "#4fd1c5", "#f28be0"],
};
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

export const isTranslator = (run) => run.about?.of === "translator";

// Each sentence gets the offset of its maps in those of a moment. `kinds` are those of the first: all have the same
// layers and heads. Heads are not scored.
export function readTranslator(about) {
  let cells = 0;
  const sentences = about.sentences.map((one) => {
    const placed = { ...one, ...withPlaces(one.kinds), at: cells };
    cells += placed.cells;
    return placed;
  });
  return { ...about, sentences, cells, kinds: sentences[0].kinds, scores: [], lines: sentences, floor: null };
}

export function readTranslatorMoments({ steps, curves, maps, wrote }, array, about) {
  const width = 1 + about.curves.length;
  const numbers = array(Float32Array, curves, width * steps.length);
  const cells = array(Uint8Array, maps, about.cells * steps.length);
  return steps.map((step, i) => {
    const [held, ...values] = numbers.subarray(i * width, (i + 1) * width);
    const start = (at) => i * about.cells + at;
    const of = about.sentences.map(({ at, cells: size }) => cells.subarray(start(at), start(at + size)));
    return { step, held, loss: held, teacher: null, own: null, values, scores: [], mapsOf: of, wrote: wrote[i] };
  });
}

const numberNow = (app, { about }) => Math.min(app.view.sentence, about.sentences.length - 1);
export const sentenceNow = (app, run) => run.about.sentences[numberNow(app, run)];

// The drawn part of a moment: the maps of the chosen sentence.
export const mapsNow = (app, run, at) => ({
  kinds: sentenceNow(app, run).kinds,
  maps: run.moments[at].mapsOf[numberNow(app, run)],
  isOwn: false,
});

export const sentenceName = ({ src, to }) => `“${isolated(src)}” → ${to}`;

// A curve for each language: chrF, or BLEU of what has no other; both are in the numbers below.
export function languagesOf(app, { about }) {
  const named = (name) => about.curves.filter((curve) => curve.startsWith(`${name}.`));
  const main = named("chrf").length ? "chrf" : "bleu";
  return named(main).map((curve, i) => {
    const to = curve.slice(main.length + 1);
    return {
      to,
      name: main === "chrf" ? "chrF" : "BLEU",
      at: about.curves.indexOf(curve),
      bleu: main === "chrf" ? about.curves.indexOf(`bleu.${to}`) : -1,
      colour: COLOURS[app.theme.name][i % COLOURS.light.length],
      dash: DASHES[i % DASHES.length],
    };
  });
}

export function drawScores(app, pen, run, so, place) {
  for (const { at, colour, dash } of languagesOf(app, run))
    pen.path(
      so.map(({ step, values }) => [place.x(step), place.yShare(values[at] / 100)]),
      { stroke: colour, width: 2.5, dash },
    );
}

const score = (values, at) => values[at].toFixed(1);

export function translatorMeter(app, { run, at }) {
  const { held, values } = run.moments[at];
  const item = (...nodes) => element("span", {}, ...nodes);
  const languages = languagesOf(app, run).map(({ to, name, at: main, bleu, colour, dash }) =>
    item(
      element("i", {
        class: "swatch",
        style: `border-color:${colour};border-top-style:${dash.length ? "dashed" : "solid"}`,
      }),
      `${to} `,
      termNode(name),
      element("b", { text: ` ${score(values, main)} ` }),
      ...(bleu < 0 ? [] : [termNode("BLEU"), element("b", { text: ` ${score(values, bleu)}` })]),
    ),
  );
  return [
    item(element("i", { class: "swatch loss" }), termNode("dev loss"), element("b", { text: ` ${held.toFixed(4)}` })),
    ...languages,
  ];
}

export function translatorText(app, run, at) {
  const { step, held, values } = run.moments[at];
  const said = languagesOf(app, run).map(({ to, name, at: main }) => `, ${name} of ${to} ${score(values, main)}`);
  return `After ${step} updates: dev loss ${held.toFixed(4)}${said.join("")}.`;
}

export const translatorTitle = () => ["What it writes now (greedy). Click a sentence to see its maps"];

// Built once for a run: a button that has the keyboard keeps it while the moments pass.
export function paintSentences(app, pane) {
  const { run, at, parts } = pane;
  if (pane.linesKey !== run.key) {
    pane.linesKey = run.key;
    pane.sentences = run.about.sentences.map((sentence, i) => sentenceNode(app, sentence, i));
    parts.lines.replaceChildren(...pane.sentences.map(({ node }) => node));
  }
  pane.sentences.forEach(({ choose, wrote }, i) => {
    const text = run.moments[at].wrote[i];
    choose.setAttribute("aria-pressed", String(i === numberNow(app, run)));
    put(wrote, text || "(nothing)");
    wrote.classList.toggle("quiet", !text);
  });
}

function sentenceNode(app, { to, src, tgt, learned }, i) {
  const title = `Given target: ${tgt}\n${learned ? "This sentence is in the training data." : "This sentence is not in the training data."}`;
  const choose = element("button", { type: "button", class: "link sentence", text: isolated(src), title });
  choose.onclick = () => change(app, { sentence: i });
  const wrote = element("bdi", { class: "wrote" });
  const node = element(
    "li",
    { title },
    element("span", { class: "tick wrong", text: to }),
    choose,
    element("span", { class: "quiet", text: learned ? "(in training) →" : "→" }),
    wrote,
  );
  return { node, choose, wrote };
}

export function scoreRows(run) {
  const lines = [["run", "updates", "dev_loss", ...run.about.curves]];
  for (const { step, held, values } of run.moments) lines.push([run.title, step, held, ...values]);
  return lines;
}

// Lines of a saved picture: which sentence has its maps drawn, and what is written of each.
export const writtenLines = (app, run, at) =>
  range(run.about.sentences.length).map((i) => {
    const sentence = run.about.sentences[i];
    return `${i === numberNow(app, run) ? "▸" : "  "} ${sentenceName(sentence)}: ${isolated(run.moments[at].wrote[i])}`;
  });
