// Vocabulary entries of the tokens of a label, [[piece, id, is unknown], …], in words (attnviz/text/entries.py says
// the same in Python). Nothing where they are unknown.

import { isolated } from "../text.js";

export function entryText(tokens) {
  if (!tokens?.length) return "";
  const many = tokens.length > 1 ? "s" : "";
  const pieces = tokens.map(([piece]) => piece).join(" ");
  const ids = `id${many} ${tokens.map(([, id]) => id).join(", ")}`;
  const unknown = tokens.some(([, , isUnknown]) => isUnknown) ? ", unknown to the model" : "";
  return (pieces.trim() ? `piece${many} ${isolated(pieces)}, ` : "") + ids + unknown;
}

// Of what goes in and what comes out.
export const rowEntryText = ([input, output] = []) => [input, output].map(entryText).filter(Boolean).join(" → ");

// A text with what the vocabulary has for it on the next line, as `title` shows it.
export const withEntry = (text, entry) => [text, entry].filter(Boolean).join("\n");

// For files: piece and id of what goes in, what comes out, and the key; words of several pieces have them side by side.
export const ENTRY_NAMES = ["row_in_piece", "row_in_id", "row_out_piece", "row_out_id", "key_piece", "key_id"];

const cellsOf = (tokens = []) => [tokens.map(([piece]) => piece).join(" "), tokens.map(([, id]) => id).join(" ")];

export const entryCells = ([input, output] = [], key = []) => [input, output, key].flatMap((tokens) => cellsOf(tokens));
