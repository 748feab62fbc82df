// A reader's answers as a CSV file: a line a question, with the columns of a class's answers where they mean the same.

import { saveCSV } from "../../../kit/js/downloads.js";
import { scoreAnswer, shares } from "./scoring.js";
import { shownAnswer } from "./verdict.js";

const COLUMNS = ["lesson", "step", "title", "kind", "question", "answer", "score", "right", "hints", "saved"];

export function saveAnswers({ name, title, steps }, progress) {
  const rows = steps.flatMap((step, i) => (step.question ? [lineOf(title, step, i, progress.of(i))] : []));
  saveCSV(`${name}-answers`, [COLUMNS, ...rows]);
}

function lineOf(lesson, { title, question }, i, { given, isSkipped, rungs, at }) {
  const { share = null, isRight } = given === null ? {} : scoreAnswer(question, given, question.truth);
  const score = share ?? "";
  const right = share === null ? "" : isRight ? "yes" : "no";
  const answer = given !== null ? answerText(question, given) : isSkipped ? "skipped" : "did not answer";
  return [lesson, i + 1, title, question.kind, question.ask, answer, score, right, rungs, at];
}

// A drawn row as it was scored.
const answerText = (question, given) =>
  question.kind === "row"
    ? shares(given)
        .map((weight, i) => `${i} ${question.keys[i]} ${weight.toFixed(3)}`)
        .join("; ")
    : shownAnswer(question, given);
