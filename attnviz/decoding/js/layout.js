// Where each kind's map is. Decoder maps are side by side on common rows; on a narrow screen they stack.

import { BAND } from "../../kit/js/spans/bands.js";
import { rowName, siteName } from "../../kit/js/text.js";
import { hasSite } from "./payload.js";

export const GAP = 18;
const LEAST_MAP = 96;
const TITLE = 31;
export const SECOND = 14;
export const TEXT = 11;
export const SLANT = -Math.PI / 4;
const NAMES = 62; // pixels over a map, at most
const TALLEST_ROW = 24;
const WIDEST_CELL = 34;

export function layoutOf(app, pen, [width, height]) {
  const { kinds } = app.payload;
  const stacked = isStacked(app);
  const labels = kinds.map((kind, i) =>
    (stacked ? !isPair(kinds[i - 1], kinds[i]) : ownsLabels(kinds, i))
      ? rowLabelWidth(pen, rowTexts(app, kind), width * (stacked ? 0.32 : 0.18)) + bandOf(kind).rows
      : 0,
  );
  return stacked ? stackedBoxes(pen, kinds, labels, width) : rowOfBoxes(pen, kinds, labels, [width, height]);
}

export const isStacked = (app) => app.root.dataset.size === "phone";

// Decoder maps share their rows with the first of them.
const ownsLabels = (kinds, i) => i === 0 || !(kinds[i].follows && kinds[i - 1].follows);

function rowOfBoxes(pen, kinds, labels, [width, height]) {
  const across = Math.max(...kinds.map((kind) => colSpace(pen, kind)));
  const free = width - labels.reduce((a, b) => a + b, 0) - GAP * (kinds.length - 1) - 28;
  const cells = cellWidths(kinds, free);
  const top = TITLE + across;
  let x = 0;
  return kinds.map((kind, i) => {
    const h = Math.min(TALLEST_ROW, (height - top - 4) / kind.nRows);
    const box = { kind, labels: labels[i], x: x + labels[i], y: top, w: cells[i], h, left: x };
    x += labels[i] + cells[i] * kind.nCols + GAP;
    return box;
  });
}

// One width for all cells, but for a map that would be narrower than its own title beside a much longer one.
function cellWidths(kinds, free) {
  const isNarrow = ({ nCols }, width) => nCols * width < Math.min(LEAST_MAP, nCols * WIDEST_CELL);
  const columns = (some) => some.reduce((sum, { nCols }) => sum + nCols, 0);
  const even = Math.min(WIDEST_CELL, free / columns(kinds));
  const narrow = kinds.filter((kind) => isNarrow(kind, even));
  const wide = kinds.filter((kind) => !isNarrow(kind, even));
  if (!narrow.length || !wide.length) return kinds.map(() => even);
  const rest = Math.min(WIDEST_CELL, Math.max(0.5, (free - LEAST_MAP * narrow.length) / columns(wide)));
  return kinds.map((kind) => (narrow.includes(kind) ? LEAST_MAP / kind.nCols : rest));
}

// A pass and its steps stay beside each other on a narrow screen too: they are compared row by row.
function stackedBoxes(pen, kinds, labels, width) {
  let y = 0;
  return kinds.map((kind, i) => {
    const isSecond = isPair(kinds[i - 1], kind);
    const maps = isSecond || isPair(kind, kinds[i + 1]) ? 2 : 1;
    const left = isSecond ? labels[i - 1] : labels[i];
    const w = Math.min(WIDEST_CELL, (width - left - 34 - GAP * (maps - 1)) / maps / kind.nCols);
    const h = Math.max(9, Math.min(18, w * 1.2));
    const x = left + (isSecond ? w * kind.nCols + GAP : 0);
    const top = y + TITLE + colSpace(pen, kind);
    if (maps === 1 || isSecond) y = top + h * kind.nRows + 18;
    return { kind, labels: labels[i], x, y: top, w, h, left: isSecond ? x : 0 };
  });
}

const isPair = (first, second) => Boolean(first && second && first.kind === second.kind);

export const stackedHeight = (boxes) => Math.ceil(Math.max(...boxes.map((box) => box.y + box.h * box.kind.nRows)) + 8);

// A step by its input and the text's next token, as on Heads; the model's choice is named where another token was fed.
export const stepName = ({ input, next, chosen }) =>
  next === null ? rowName([input, chosen]) : `${rowName([input, next])} (chose ${chosen})`;

export const rowTexts = (app, kind) => (kind.follows ? app.payload.header.steps.map(stepName) : kind.rows);

// Vocabulary entries of a row; of a step, those of its input token and of the text's next token.
export const rowEntries = (app, kind, row) =>
  kind.follows ? app.payload.header.steps[row]?.row_entries : [kind.row_entries[row], []];

function rowLabelWidth(pen, texts, most) {
  let widest = 20;
  for (const text of texts) widest = Math.max(widest, pen.widthOf(text, TEXT, 600) + 10);
  return Math.min(widest, most);
}

export const colSpace = (pen, kind) =>
  bandOf(kind).cols + Math.min(NAMES, Math.max(...kind.cols.map((text) => pen.widthOf(text, TEXT))) * 0.72 + 16);

// Pixels between cells and names for the turns of a conversation.
export const bandOf = (kind) => ({ rows: kind.row_spans ? BAND + 3 : 0, cols: kind.spans ? BAND + 3 : 0 });

// The cell under a point, or the row (column -1) or the column (row -1) whose name is there, or null.
export function cellAt(boxes, [x, y]) {
  for (const box of boxes) {
    const band = bandOf(box.kind).cols;
    const foot = x - Math.max(0, box.y - band - y) / Math.tan(-SLANT); // of a name over the map
    const named = Math.floor((foot - box.x) / box.w);
    if (y < box.y && y > box.y - NAMES - band && named >= 0 && named < box.kind.nCols)
      return { box, row: -1, col: named };
    const col = Math.floor((x - box.x) / box.w);
    const row = Math.floor((y - box.y) / box.h);
    if (row >= 0 && row < box.kind.nRows && x >= box.left && col < box.kind.nCols) return { box, row, col };
  }
  return null;
}

// Why a map is not drawn: this stack has no such layer or head, or it is still on its way.
export function absence({ layer, head }, kind) {
  if (hasSite(kind, layer, head)) return ["asking for", "this head …"];
  return [`No ${siteName(layer, head)}:`, `L0 to L${kind.layers - 1},`, `H0 to H${kind.heads - 1}.`];
}
