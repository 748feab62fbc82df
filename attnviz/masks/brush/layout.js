// Where everything of the picture stands: the image to draw on, the image with weights, and beside them what changed.

const GAP = 20;
const CHIP = [104, 30]; // a special token
const HEAD = 26; // pixels of a line of text above what it names
const NARROW = 620; // pixels of width below which everything stands in one column

export function layoutOf({ grid, size, patch, layers, heads, steps }, [width, height], specials) {
  const isNarrow = width < NARROW;
  const half = isNarrow ? width - 8 : Math.floor(0.34 * width);
  const perRow = Math.max(1, Math.floor(half / (CHIP[0] + 6)));
  const chips = Math.ceil(specials.length / perRow) * (CHIP[1] + 6);
  const top = HEAD + (isNarrow ? 0 : chips);
  const scale = Math.min(half / size[1], Math.max(200, height - top - 8) / size[0]);
  const [wide, high] = [size[1] * scale, size[0] * scale];
  const place = (x, y) => ({ x, y, scale, side: patch.map((pixels) => pixels * scale) });
  const brush = place(4, top);
  const shown = isNarrow ? place(4, top + high + HEAD + GAP + chips) : place(4 + wide + GAP, top);
  const start = isNarrow ? [4, shown.y + high + GAP] : [shown.x + Math.max(wide, Math.min(half, CHIP[0])) + GAP, 0];
  const moved = headsAt(start, width - start[0] - 8, { layers, heads });
  const lines = { x: start[0], y: moved.bottom + GAP + HEAD, w: Math.max(120, width - start[0] - 8), h: 18 };
  return {
    brush,
    shown,
    grid,
    chips: specials.map((_, at) => [
      shown.x + (at % perRow) * (CHIP[0] + 6),
      shown.y - chips + Math.floor(at / perRow) * (CHIP[1] + 6),
      ...CHIP,
    ]),
    titles: [
      [brush.x, brush.y - HEAD / 2],
      [shown.x, shown.y - chips - HEAD / 2],
    ],
    moved,
    lines,
    size: [width, Math.ceil(Math.max(shown.y + high, lines.y + steps.length * lines.h) + 8)],
  };
}

// A row for each layer, a column for each head.
function headsAt([left, top], width, { layers, heads }) {
  const label = 34;
  const w = Math.max(8, Math.min(40, (width - label) / heads));
  const h = Math.max(8, Math.min(22, 260 / layers));
  return {
    title: [left, top + HEAD / 2],
    cells: Array.from({ length: layers * heads }, (_, number) => [
      left + label + (number % heads) * w,
      top + 2 * HEAD + Math.floor(number / heads) * h,
      w - 2,
      h - 2,
    ]),
    rows: Array.from({ length: layers }, (_, layer) => [left, top + 2 * HEAD + layer * h + h / 2]),
    columns: Array.from({ length: heads }, (_, head) => [left + label + head * w + w / 2, top + 1.5 * HEAD]),
    hasNames: w > 18,
    bottom: top + 2 * HEAD + layers * h,
  };
}
