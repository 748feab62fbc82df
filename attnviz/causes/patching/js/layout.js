// Where each matrix is: what patches restore on the left, what they do to the control pair on the right.

import { clamp } from "../../../kit/js/cells.js";
import { BAND } from "../../../kit/js/spans/bands.js";

const LEFT = 34; // of row names
const GAP = 26;
const TITLE = 22;
const HEADS_BELOW = 16;
const TOKENS_BELOW = 58;
export const bandBelow = ({ spans }) => (spans ? BAND + 3 : 0); // for the turns of a conversation
const NARROW = 560; // pixels: below it the control stands under its matrix
export const LEGEND = 46;
const CELL = { least: 9, most: 44, tokens: 12, height: 22 };

export const READABLE = 10; // pixels of a column whose name can be read

export function layoutOf(header, width) {
  const columns = width < NARROW ? 1 : 2;
  const room = Math.floor((width - 8 - GAP * (columns - 1)) / columns);
  const blocks = [];
  let y = 0;
  let right = 0;
  header.matrices.forEach((matrix, at) => {
    const [rows, cols] = matrix.size;
    const w = clamp(Math.floor((room - LEFT) / cols), CELL.least, CELL.most);
    const below = matrix.first_layer < 0 ? (w >= READABLE ? TOKENS_BELOW : 8) : HEADS_BELOW;
    const band = bandBelow(matrix);
    const height = TITLE + band + rows * CELL.height + below + 8;
    const isStacked = columns === 1 || LEFT + cols * w > room; // a long text's control stands under its matrix
    for (const [nth, name] of ["share", "moved"].entries()) {
      const x = LEFT + (isStacked ? 0 : nth * (room + GAP));
      const wide = Math.max(room - LEFT, isStacked ? cols * w : 0);
      blocks.push({ at, name, x, y: y + TITLE, w, h: CELL.height, rows, cols, below, room: wide });
      right = Math.max(right, x + cols * w);
      if (isStacked || nth === 1) y += height;
    }
  });
  return { blocks, width: right + 8, height: y + LEGEND };
}

// The cell at a place of the picture: [block, row, column], or null between them.
export function cellAt({ blocks }, [x, y]) {
  for (const block of blocks) {
    const row = Math.floor((y - block.y) / block.h);
    const col = Math.floor((x - block.x) / block.w);
    if (row >= 0 && row < block.rows && col >= 0 && col < block.cols) return [block, row, col];
  }
  return null;
}
