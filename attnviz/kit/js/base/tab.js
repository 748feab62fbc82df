// A tab of the Heads or Causes page: a picture that is saved to files, and whose numbers can be read as a table.

import { SETTLE_MS } from "../store.js";
import { picture, windowFit } from "./picture.js";
import { paintTable } from "./table.js";

// It brings, besides a picture's parts:
//   atOnce      names of choices that only Python can answer
//   figure      `(app, pen, context)`: draws the picture for a file, and returns as SVG what a pen has no stroke for
//   figureSize, figureName, csvRows   `(app)`
//   moreFiles   further entries of the menu that saves, [text, act(app)], if any
export function tab(widget) {
  const reportAfter = (_, patch) => (widget.atOnce.some((name) => name in patch) ? 0 : SETTLE_MS);
  const paint = (app, began) => {
    widget.paint(app, began);
    paintTable(app);
  };
  return picture({ fit: windowFit(430), reportAfter, ...widget, paint });
}
