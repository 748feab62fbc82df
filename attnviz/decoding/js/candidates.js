// The step's likeliest tokens, its choice, and whether the teacher agrees; in a beam, the live hypotheses.

import { termNode } from "../../kit/js/definitions.js";
import { element } from "../../kit/js/elements.js";
import { markToken, withNames } from "../../kit/js/spans/nodes.js";
import { entryText, withEntry } from "../../kit/js/tokens/entries.js";
import { magnified } from "../../kit/js/resize.js";
import { exactText, isolated, percentText } from "../../kit/js/text.js";
import { goTo } from "./choice.js";

const BESIDE_BEAM = 4;
const ROW = 19;

export function paintCandidates(app) {
  const { header } = app.payload;
  const { parts } = app;
  const step = header.steps[app.view.step];
  parts.prefix.replaceChildren(...prefixNodes(app));
  parts.prefix.scrollLeft = parts.prefix.scrollWidth;
  parts.drawnLegend.hidden = !step.top.some(isDrawnOtherwise);
  parts.verdictOfStep.replaceChildren(...agreementNodes(app, step));
  // A beam's sentences need the room of the less likely tokens.
  const shown = likeliest(step, step.beam.length ? BESIDE_BEAM : roomFor(app));
  parts.top.replaceChildren(...shown.map((candidate) => candidateNode(step, candidate)));
  parts.beam.hidden = !step.beam.length;
  parts.beamTitle.hidden = !step.beam.length;
  parts.beam.replaceChildren(...step.beam.map(beamNode));
  parts.clock.textContent = step.ms === null ? "" : `${step.ms.toFixed(1)} ms`;
}

// As many as fit; the chosen token and the teacher's are among them, however unlikely.
function likeliest(step, room) {
  const isAsked = (candidate) => candidate[3] === step.chosen_id || isTeachers(step, candidate);
  let free = room - step.top.filter(isAsked).length;
  return step.top.filter((candidate) => isAsked(candidate) || free-- > 0);
}

const isTeachers = (step, [text]) => step.teacher !== null && !step.agrees && text === step.teacher;

function roomFor({ root, parts }) {
  if (root.dataset.size === "phone") return Infinity;
  const pane = parts.top.parentElement;
  pane.scrollTop = 0;
  const room = pane.getBoundingClientRect().bottom - parts.top.getBoundingClientRect().top;
  return Math.max(3, Math.floor(room / magnified() / ROW));
}

function prefixNodes(app) {
  const { steps } = app.payload.header;
  const at = app.view.step;
  const nodes = steps.slice(0, at + 1).map((step, index) =>
    element("span", {
      class: index === at ? "token queried" : "token",
      text: step.input,
      onclick: () => goTo(app, index),
      title: withEntry(`step ${index}`, entryText(step.entries[0])),
    }),
  );
  const spans = app.payload.kinds.find(({ follows }) => follows)?.row_spans;
  nodes.forEach((node, place) => markToken(node, spans, place));
  nodes.splice(0, nodes.length, ...withNames(nodes, spans));
  nodes.push(
    element("span", { class: "arrow", text: "→" }),
    ...(steps[at].next === null
      ? []
      : [
          element("span", {
            class: "token",
            text: steps[at].next,
            title: withEntry("the text's next token", entryText(steps[at].row_entries[1])),
          }),
          element("span", { class: "arrow", text: "chose" }),
        ]),
    element("span", {
      class: "token chosen",
      text: steps[at].chosen,
      title: withEntry("the token chosen in this step", entryText(steps[at].entries[1])),
    }),
  );
  return nodes;
}

// A temperature or a cut makes a token be drawn more or less often than the model finds it likely.
const isDrawnOtherwise = ([, probability, drawn]) => Math.abs(drawn - probability) >= 1e-6;

function candidateNode(step, candidate) {
  const [text, probability, drawn, id, piece] = candidate;
  const isChosen = id === step.chosen_id;
  const isTeacher = isTeachers(step, candidate);
  const isCut = drawn === 0 && probability > 0;
  const bar = element("i", { style: `width:${(100 * probability).toFixed(2)}%` });
  const drawnBar = element("b", { style: `left:${(100 * drawn).toFixed(2)}%`, hidden: !isDrawnOtherwise(candidate) });
  const mark = isChosen ? "chosen" : isTeacher ? "teacher" : "";
  return element(
    "li",
    {
      class: `${mark} ${isCut ? "cut" : ""}`,
      title: withEntry(
        `${isChosen ? "chosen; " : ""}probability ${exactText(probability)}${isDrawnOtherwise(candidate) ? `, drawn with ${exactText(drawn)}` : ""}`,
        entryText([[piece ?? "", id]]),
      ),
    },
    element("span", { class: "candidate", text }),
    element("span", { class: "track" }, bar, drawnBar),
    element("span", { class: "number", text: percentText(probability) }),
    element("span", { class: "mark", text: isChosen ? "✓" : isTeacher ? "teacher" : "" }),
  );
}

function agreementNodes(app, step) {
  if (step.teacher === null) {
    const { fork } = app.payload.header;
    if (fork === null || fork === undefined) return [];
    const teacher = termNode(
      "teacher",
      "teacher",
      "The model has written a different sentence from here on, so the teacher’s text has no token for this step.",
    );
    return [element("span", { class: "apart" }, "Left the ", teacher, ` at step ${fork}.`)];
  }
  const teacher = termNode("teacher");
  if (step.agrees) return [element("span", { class: "together" }, "Agrees with the ", teacher, ".")];
  return [
    element(
      "span",
      { class: "apart" },
      "They differ: the ",
      teacher,
      " has ",
      element("strong", { text: isolated(step.teacher) }),
    ),
  ];
}

function beamNode([text, logProbability, score, ended, kept]) {
  return element(
    "li",
    {
      class: `${ended ? "ended" : "alive"}${kept ? " kept" : ""}`,
      title: `log-probability ${exactText(logProbability)}${ended ? ", ended" : ", still being written"}`,
    },
    element("span", { class: "number", text: score.toFixed(2) }),
    element("span", { class: "candidate" }, element("bdi", { text: text || "␣" })),
    element("span", { class: "mark", text: ended ? "ended" : "" }),
  );
}
