// What is said of an answer, and of all of them, as the app says it (attnviz/lessons/page/panel.py and judging.py).

import { headName } from "./controls.js";
import { general, percent } from "./numbers.js";
import { isOver } from "./progress.js";
import { kindOf, rowRule, scoreAnswer } from "./scoring.js";
import { phrase } from "./words.js";

const isInWords = (question) => ["choice", "said"].includes(kindOf(question));

// Returns { tone, text }: "right", "wrong", "skipped" or "noted".
export function verdictOf(question, { given }, say) {
  const right = rightIn(question, say);
  if (given === null) return { tone: "skipped", text: joined(say(phrase("Skipped.")), right) };
  const { share, said, isRight } = scoreAnswer(question, given, question.truth);
  if (share === null) return { tone: "noted", text: say(phrase("Thank you. This answer is not scored.")) };
  const answer = shownAnswer(question, given);
  const told = answer && say(phrase("You said “{answer}”.", { answer }));
  const rule = question.kind === "row" && say(rowRule());
  if (isRight)
    return { tone: "right", text: joined(say(phrase("Right.")), told, say(said), rule, !isInWords(question) && right) };
  if (rule) return { tone: "wrong", text: joined(say(phrase("Not right.")), say(said), rule, right) };
  const score = share > 0 && say(phrase("Score {share}.", { share: percent(share) }));
  return { tone: "wrong", text: joined(told, say(said), right, score) };
}

const joined = (...sentences) => sentences.filter(Boolean).join(" ");

function rightIn(question, say) {
  const { said } = question.truth;
  if (question.kind === "text" || !said) return "";
  if (isInWords(question)) return say(phrase("Right: “{answer}”.", { answer: said }));
  return say(phrase("The model: {answer}.", { answer: said.replace(/\.+$/, "") }));
}

// An answer in words; "" for a row, which is drawn.
export function shownAnswer(question, given) {
  const { kind, rows, keys, options } = question;
  if (kind === "cell") return given.map(([row, col]) => `${rows[row]} × ${keys[col]}`).join("; ");
  if (kind === "head") return headName(given);
  if (kindOf(question) === "choice") return options[given];
  if (kind === "number") return general(given, 6);
  return kind === "row" ? "" : given;
}

// All answers in one sentence.
export function summaryOf(questions, progress, say) {
  const all = questions.map((question, i) => [question, progress.of(i)]).filter(([question]) => question);
  const answered = all.filter(([, { given }]) => given !== null);
  const right = answered.filter(([question, { given }]) => scoreAnswer(question, given, question.truth).isRight).length;
  const skipped = all.filter(([, did]) => isOver(did) && did.given === null).length;
  const hints = all.reduce((sum, [, { rungs }]) => sum + rungs, 0);
  const parts = [answeredPhrase(answered.length, all.length)];
  if (answered.length) parts.push(rightPhrase(right, answered.length));
  if (skipped) parts.push(phrase("{count} skipped", { count: skipped }));
  if (hints) parts.push(hints === 1 ? phrase("1 hint") : phrase("{count} hints", { count: hints }));
  const said = parts.map(say).join(", ");
  return say(phrase("The end. {what}.", { what: said[0].toUpperCase() + said.slice(1) }));
}

function answeredPhrase(count, questions) {
  if (!count) return phrase("none of {questions} answered", { questions });
  return phrase("{count} of {questions} answered", { count, questions });
}

function rightPhrase(right, answered) {
  if (!right) return phrase("none right");
  return right === answered && answered > 1 ? phrase("all right") : phrase("{count} right", { count: right });
}
