// A part of the drawing as a box: its title and sizes in lines, a cell for each head, the chip of its mask.

export const SIZE = 11;
export const PAD = 8;
const TITLE = 12.5;
const CELL = 13; // a head, and its gap
const CHIP_BESIDE = 200; // pixels that the mask’s chip needs beside the sizes
const SLIM = new Set(["norm", "bar", "fold", "softmax"]);

// `y` is its foot, counted upward; `x` and `w` are its place in the column.
export function boxOf({ y, widthOf }, item, x, w) {
  const inner = w - 2 * PAD;
  const hasChipRow = item.isMasked && inner < CHIP_BESIDE;
  const chipRoom = item.isMasked && !hasChipRow ? 80 : 0; // on both sides: sizes stand in the middle
  const titles = wrapped(item.title, inner, (text) => widthOf(text, TITLE, 600));
  const sizes = item.size ? wrapped(item.size, inner - chipRoom, (text) => widthOf(text, SIZE, 400)) : [];
  const cells = item.heads ? cellsOf(item, inner) : [];
  const rows = cells.length ? cells.at(-1).row + 1 : 0;
  const pad = SLIM.has(item.type) ? 3 : 6;
  const h = 2 * pad + titles.length * 15 + sizes.length * 14 + (rows ? rows * CELL + 4 : 0) + (hasChipRow ? 17 : 0);
  const top = y + h - pad;
  const lines = [
    ...titles.map((text, at) => ({
      text,
      size: TITLE,
      weight: SLIM.has(item.type) ? 400 : 600,
      y: top - at * 15 - 7.5,
    })),
    ...sizes.map((text, at) => ({
      text,
      size: SIZE,
      weight: 400,
      isQuiet: true,
      y: top - titles.length * 15 - at * 14 - 7,
    })),
  ].map((line) => ({ ...line, x: x + w / 2, align: "middle" }));
  const chipTop = top - (titles.length * 15 + (hasChipRow ? sizes.length * 14 + 2 : 0));
  const chip = item.isMasked && { x: hasChipRow ? x + w / 2 - 18 : x + w - 42, y: chipTop - 14, w: 36, h: 14 };
  const first = y + pad;
  return {
    ...item,
    x,
    y,
    w,
    h,
    lines,
    cells: cells.map(({ head, row, col, cols }) => ({
      head,
      x: x + w / 2 - (cols * CELL - 2) / 2 + col * CELL,
      y: first + (rows - 1 - row) * CELL,
      w: CELL - 2,
      h: CELL - 2,
    })),
    chip: chip || null,
  };
}

function cellsOf({ heads }, room) {
  const most = Math.max(1, Math.floor((room + 2) / CELL));
  return Array.from({ length: heads }, (_, head) => {
    const row = Math.floor(head / most);
    return { head, row, col: head % most, cols: Math.min(most, heads - row * most) };
  });
}

// Words as lines no wider than `room`; a word that is wider is cut, with … at its end.
export function wrapped(text, room, widthOf) {
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && widthOf(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => {
    if (widthOf(line) <= room) return line;
    let kept = [...line];
    while (kept.length > 1 && widthOf(`${kept.join("")}…`) > room) kept = kept.slice(0, -1);
    return `${kept.join("")}…`;
  });
}
