// What a reader did with each question, kept by the browser: of a step what was `given`, or that it `isSkipped`, how
// many hints (`rungs`) were opened, and when. It is one lesson's as it was exported: another version begins anew.

import { scoreAnswer } from "./scoring.js";

const START = { given: null, isSkipped: false, rungs: 0, at: "" };

export const isOver = ({ given, isSkipped }) => isSkipped || given !== null;

// Browsers may refuse to keep anything, as in a private window. Another tab of the same lesson may have noted other steps.
export function progressOf(key, questions) {
  let steps = [];
  const look = () => {
    const kept = read(key) ?? steps;
    steps = questions.map((question, i) => question && checked(question, kept[i]));
  };
  look();
  return {
    of: (i) => steps[i],
    note(i, told) {
      look();
      steps[i] = { ...steps[i], ...told, at: new Date().toISOString() };
      return write(key, steps);
    },
    forget() {
      steps = questions.map((question) => question && START);
      write(key, steps);
    },
  };
}

// How many questions are over, for the list of lessons.
export const doneIn = (key) => (read(key) ?? []).filter((did) => did && isOver(did)).length;

// Anything may stand there: an answer that this question cannot have is none.
function checked(question, did) {
  const given = did?.given ?? null;
  if (given !== null && scoreAnswer(question, given, question.truth).refusal) return START;
  const most = question.hints.length + Boolean(question.show);
  const rungs = Math.min(most, Math.max(0, Math.trunc(Number(did?.rungs)) || 0));
  return { given, isSkipped: did?.isSkipped === true, rungs, at: String(did?.at ?? "") };
}

function read(key) {
  try {
    const kept = JSON.parse(localStorage.getItem(key));
    return Array.isArray(kept) ? kept : null;
  } catch {
    return null;
  }
}

function write(key, steps) {
  try {
    localStorage.setItem(key, JSON.stringify(steps));
    return true;
  } catch {
    return false;
  }
}
