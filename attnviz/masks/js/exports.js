// PNG, SVG and CSV of what is drawn.

import { saveCSV, savePNG, saveSVG } from "../../kit/js/downloads.js";
import { ENTRY_NAMES, entryCells } from "../../kit/js/tokens/entries.js";
import { mayAttend } from "./cells.js";
import { drawLab } from "./draw.js";
import { coloursText } from "./legend.js";

export const EXPORTS = [
  ["PNG picture", labPNG],
  ["SVG picture", labSVG],
  ["CSV of the numbers", labCSV],
];

const labName = (app) => `attnviz-mask-${app.payload.header.words.file}`;

export const siteOf = (app) => app.payload.header.words.title;

const shifted = (pen, down) => ({
  ...pen,
  isFile: true, // a file cannot be dragged over or painted
  text: (text, x, y, style) => pen.text(text, x, y + down, style),
  box: (x, y, w, h, style) => pen.box(x, y + down, w, h, style),
  image: (image, x, y, w, h) => pen.image(image, x, y + down, w, h),
  hatch: (boxes) => pen.hatch(boxes.map(([x, y, w, h]) => [x, y + down, w, h])),
});

function labFigure(app, pen) {
  pen.text(app.payload.header.words.title, 10, 18, { size: 14, weight: 600 });
  drawLab(app, shifted(pen, 34));
  pen.text(coloursText(app), 10, app.layout.height + 46, { size: 11, colour: app.theme.muted });
}

const labSize = ({ layout: { width, height } }) => [width, height + 60];

function labPNG(app) {
  savePNG(app, labName(app), labSize(app), (pen) => labFigure(app, pen));
}

function labSVG(app) {
  saveSVG(app, labName(app), labSize(app), (pen) => labFigure(app, pen));
}

function labCSV(app) {
  const { q, k, header, scores, masked, attn } = app.payload;
  const names = ["row", "row_in", "row_out", "key_position", "key", "may_attend", "score", "masked_score", "weight"];
  const rows = [[...names, ...ENTRY_NAMES]];
  for (let row = 0, i = 0; row < q; row++)
    for (let col = 0; col < k; col++, i++)
      rows.push([
        row,
        ...header.rows[row],
        col,
        header.cols[col],
        mayAttend(app, i) ? 1 : 0,
        scores[i],
        masked[i],
        attn ? attn[i] : null,
        ...entryCells(header.row_entries[row], header.col_entries[col]),
      ]);
  saveCSV(labName(app), rows);
}
