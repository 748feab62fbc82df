// Scores of answers, from 0 to 1, as attnviz/lessons/scoring.py gives them: a test holds both against each other over
// all questions of the shipped lessons. An answer is what JSON can hold, in the form of the truth's.

import { phrase } from "./words.js";
import { decimals, general, percent, readNumber } from "./numbers.js";

export const RIGHT_FROM = 0.9; // the least share that counts as right
const MOST_TEXT = 2000; // characters of a free text
const NONE_DRAWN = phrase("Draw a weight for at least one key first.");

// Returns { share, said, isRight }: a share of null where nothing is scored, a phrase on how far off, or null; or
// { refusal }, a phrase on why this is no answer to the question.
export function scoreAnswer(question, answer, truth) {
  const kind = KINDS[kindOf(question)];
  const refusal = kind.refuse(question, answer, truth);
  if (refusal) return { refusal };
  const [exact, said = null] = kind.score(question, answer, truth);
  const share = exact === null ? null : Math.floor(exact * 100 + 0.5) / 100; // in whole percent, as it is shown
  return { share, said, isRight: share !== null && share >= RIGHT_FROM };
}

export const rowRule = () =>
  phrase("Your row counts as right if it shares at least {share} of the weight with the model’s row.", {
    share: percent(RIGHT_FROM),
  });

// What is written is typed, or chosen where there are options.
export function kindOf({ kind, options }) {
  if (kind !== "token" && kind !== "translation") return kind;
  return options.length ? "choice" : "said";
}

export const fold = (text) =>
  text
    .normalize("NFKC")
    .toUpperCase() // and back: ß is ss, as where Python folds case
    .toLowerCase()
    .replace(/[\p{P}\p{Z}\p{C}]/gu, " ")
    .split(/\s+/u)
    .filter(Boolean)
    .join(" ");

export function shares(drawn) {
  const total = sum(drawn);
  return drawn.map((weight) => (total > 0 ? weight / total : 0));
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const isIn = (places, place) => places.some((other) => isSame(place, other));
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function scoreCells(question, answer, { answer: right, weights }) {
  const [best, got] = [right, answer].map((cells) => sum(cells.map(([row, col]) => weights[row][col] ?? 0)));
  if (right.every((cell) => isIn(answer, cell))) return [1];
  const share = best > 0 ? Math.min(0.89, got / best) : 0; // near the largest weight is not on it
  const said = "Your choice has weight {got}; the largest weight is {best}.";
  return [share, phrase(said, { got: decimals(got, 2), best: decimals(best, 2) })];
}

function refuseCells({ most, row }, answer, { weights }) {
  const one = row ? phrase("Choose a cell first.") : phrase("Choose a cell first: its row and its key.");
  const needed = most === 1 ? one : phrase("Please choose {count} cells first.", { count: most });
  const isPlace = (cell) => Array.isArray(cell) && cell.length === 2 && cell.every(Number.isInteger);
  if (!Array.isArray(answer) || answer.length > most || !answer.every(isPlace)) return needed;
  if (new Set(answer.map(String)).size < most) return needed;
  const [rows, keys] = [weights.length, weights[0]?.length ?? 0];
  if (answer.some(([at, col]) => weights[at]?.[col] === undefined))
    return phrase("There is no such cell: the map has {rows} rows and {keys} keys.", { rows, keys });
  return answer.some(([at, col]) => weights[at][col] === null)
    ? phrase("Please choose cells in the row that the question asks about.")
    : null;
}

function scoreRow(question, answer, { answer: right }) {
  const drawn = shares(answer);
  const share = Math.max(0, 1 - sum(drawn.map((weight, i) => Math.abs(weight - right[i]))) / 2);
  return [share, phrase("Your row shares {share} of its weight with the model's row.", { share: percent(share) })];
}

function refuseRow(question, answer, { answer: { length: keys } }) {
  if (!Array.isArray(answer) || answer.length !== keys) return NONE_DRAWN;
  return answer.every((weight) => isNumber(weight) && weight >= 0) && sum(answer) > 0 ? null : NONE_DRAWN;
}

function scoreNumber({ within }, answer, { answer: right }) {
  const off = Math.abs(answer - right);
  const said = { off: general(off, 3) };
  if (off <= within + 1e-9 * Math.abs(right))
    return [1, off === 0 ? null : phrase("Off by {off}, which is near enough.", said)];
  const share = Math.max(0, 1 - off / Math.max(Math.abs(right), within, 1e-12)) / 2;
  return [share, phrase("Off by {off}.", said)];
}

// `typed` is a text that `readNumber` does not read as one number.
function refuseNumber(question, answer) {
  if (isNumber(answer)) return null;
  const { typed, number, whole, decimal } = typeof answer === "string" ? readNumber(answer) : { typed: "" };
  if (!typed || number !== undefined) return phrase("Write a number first, such as 12 or 0.5.");
  return whole
    ? phrase("Is “{typed}” {whole} or {decimal}? Write it without the comma, or with a point.", {
        typed,
        whole,
        decimal,
      })
    : phrase("“{typed}” is not one number. Please write one such as 12 or 0.5.", { typed: typed.slice(0, 40) });
}

function refuseText(question, answer) {
  if (typeof answer !== "string" || !answer.trim()) return phrase("Write an answer first.");
  const most = MOST_TEXT.toLocaleString("en");
  return [...answer].length > MOST_TEXT ? phrase("An answer has at most {most} characters.", { most }) : null;
}

const scoreSame = (question, answer, truth) => [Number(isSame(answer, truth.answer))];
const unless = (isOne, said) => (isOne ? null : said);
const KINDS = {
  cell: { score: scoreCells, refuse: refuseCells },
  row: { score: scoreRow, refuse: refuseRow },
  head: {
    score: scoreSame,
    refuse: ({ heads }, answer) => unless(isIn(heads, answer), phrase("Choose one of the heads first.")),
  },
  choice: {
    score: scoreSame,
    refuse: ({ options }, answer) =>
      unless(Number.isInteger(answer) && answer in options, phrase("Choose one of the answers first.")),
  },
  number: {
    score: scoreNumber,
    refuse: refuseNumber,
  },
  said: { score: (question, answer, truth) => [Number(fold(answer) === fold(truth.answer))], refuse: refuseText },
  text: { score: () => [null], refuse: refuseText },
};
