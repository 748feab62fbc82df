// The picture for the screen and for files, and its numbers.

import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { saveFile } from "../../../kit/js/elements.js";
import { exactText } from "../../../kit/js/text.js";
import { isLinked, linksOf, pharaoh, scoresOf, sharesOf, wayOf, wayText } from "./choice.js";
import { layoutLines, paintLines } from "./lines.js";
import { layoutMatrix, paintMatrix, rangeOf } from "./matrix.js";

const isMatrix = ({ view }) => view.drawn === "matrix";
export const layoutOf = (app, room) => (isMatrix(app) ? layoutMatrix(app, room) : layoutLines(app, room));
export const paintPicture = (app, pen, layout) => (isMatrix(app) ? paintMatrix : paintLines)(app, pen, layout);

export const figureName = (app) => `alignment-${wayOf(app).name.replaceAll(".", "-")}`;
export const siteOf = (app) => `word alignment by ${wayText(wayOf(app))}`;

export function figureSize(app) {
  const { width, height } = layoutOf(app, [0, 420]);
  return [Math.max(560, Math.ceil(width)), Math.ceil(height) + 46];
}

export function figure(app, pen) {
  const [width, height] = figureSize(app);
  paintPicture(app, pen, layoutOf(app, [0, 420]));
  const bold = { size: 13, weight: 600 };
  pen.text(shortened(pen, siteOf(app), width - 24, bold), 12, height - 32, bold);
  const note = shortened(pen, notesOf(app).join(" · "), width - 24, { size: 11 });
  pen.text(note, 12, height - 12, { size: 11, colour: app.theme.muted });
}

// Notes on what is drawn and what is left out, the same in files.
export function notesOf(app) {
  const { header } = app.payload;
  const { name, low, high } = rangeOf(app);
  const notes = [];
  if (isMatrix(app)) notes.push(`colours from ${exactText(low)} to ${exactText(high)}; dot: link`);
  else notes.push("width: the source word's share" + (name === "diverging" ? "; negative shares are left out" : ""));
  notes.push(
    app.view.null
      ? "a word whose largest share is a special token (∅) has no link"
      : "special tokens (∅) are never a source",
  );
  if (header.unread.length) notes.push(`${header.unread.length} words have no row and no link`);
  if (header.gold) notes.push("by hand: solid is sure, dashed is possible");
  return notes;
}

export function csvRows(app) {
  const { header } = app.payload;
  const names = [
    "target_position",
    "target_word",
    "source_position",
    "source_word",
    "score",
    "share",
    "linked",
    "by_hand",
  ];
  const rows = [[...names, "way"]];
  const way = wayText(wayOf(app));
  header.tgt.forEach((word, tgt) => {
    const scores = scoresOf(app, tgt);
    const shares = sharesOf(scores);
    [...header.src, ""].forEach((from, src) => {
      const hand = isLinked(header.gold?.sure, src, tgt)
        ? "sure"
        : isLinked(header.gold?.possible, src, tgt)
          ? "possible"
          : "";
      const place = src < header.src.length ? src : "";
      rows.push([
        tgt,
        word,
        place,
        from,
        scores[src],
        shares[src],
        Number(isLinked(linksOf(app), src, tgt)),
        hand,
        way,
      ]);
    });
  });
  return rows;
}

// For aligners' tools: a line of source-target pairs for the sentence.
export const savePharaoh = (app) =>
  saveFile(`attnviz-${figureName(app)}.pharaoh`, [`${pharaoh(linksOf(app))}\n`], "text/plain;charset=utf-8");
