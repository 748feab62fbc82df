// The caption below every picture that is saved, for what it shows leaves the page and its top bar behind: the sentence
// and its translation; kind, layer and head; the model.

import { measured } from "./pens/canvas_pen.js";

export const CAPTIONS = { size: 11, line: 15, margin: 12, sentenceLines: 3, siteLines: 2 };

// `lines` are the sentence and all else, as attnviz/kit/views/captions.py has them.
export function captionRows(lines, width, font) {
  const widthOf = (text) => measured(text, CAPTIONS.size, 400, font);
  const most = (at) => (at < lines.length - 1 ? CAPTIONS.sentenceLines : CAPTIONS.siteLines);
  return lines.flatMap((line, at) => wrapped(line, width - 2 * CAPTIONS.margin, most(at), widthOf));
}

export const captionHeight = (rows) => rows.length * CAPTIONS.line + CAPTIONS.margin;

// Texts as lines no wider than `room`; the last of the `most` lines of a text ends in … where some of it is missing.
function wrapped(text, room, most, widthOf) {
  const lines = [];
  let rest = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  while (rest.length && lines.length < most) {
    let fits = fittingSigns(rest, room, widthOf);
    const isLast = lines.length === most - 1;
    if (fits < rest.length && !isLast) {
      const space = rest.lastIndexOf(" ", fits);
      if (space > fits / 2) fits = space + 1;
    }
    const isCut = isLast && fits < rest.length;
    lines.push(
      rest
        .slice(0, isCut ? Math.max(1, fits - 2) : fits)
        .join("")
        .trim() + (isCut ? " …" : ""),
    );
    rest = rest.slice(fits);
  }
  return lines;
}

// By halves: a long sentence has hundreds of signs.
function fittingSigns(signs, room, widthOf) {
  let low = 1;
  let high = signs.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(signs.slice(0, middle).join("")) <= room) low = middle;
    else high = middle - 1;
  }
  return low;
}
