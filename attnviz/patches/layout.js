// Where everything of the picture stands: special tokens above the image, bars below it, every head beside it.

const GAP = 14;
const CHIP = [104, 30]; // a special token
const BARS = 74;
const NARROW = 620; // pixels of width below which the heads stand under the image

export function layoutOf({ grid, size, patch, layers, heads, tokens, places }, [width, height], specials) {
  const isNarrow = width < NARROW;
  const half = isNarrow ? width - 8 : Math.floor(0.52 * width);
  const count = places.filter((place) => !place).length;
  const perRow = Math.max(1, Math.floor(half / (CHIP[0] + 6)));
  const chips = count ? Math.ceil(count / perRow) * (CHIP[1] + 6) : 0;
  const room = [half, Math.max(200, height - chips - BARS - 3 * GAP)];
  const scale = Math.min(room[0] / size[1], room[1] / size[0]);
  const image = { x: 4, y: chips + 6, scale, side: patch.map((pixels) => pixels * scale) };
  const bottom = image.y + size[0] * scale;
  const bars = { x: 4, y: bottom + GAP, w: Math.max(160, size[1] * scale), h: BARS };
  const beside = Math.max(bars.w, Math.min(half, Math.min(perRow, count) * (CHIP[0] + 6))) + 3 * GAP;
  const start = isNarrow ? [4, bars.y + BARS + 2 * GAP] : [Math.min(beside, half + 2 * GAP), 6];
  const end = headsAt(start, [width - start[0] - 8, isNarrow ? Infinity : height - 8], { grid, layers, heads });
  const low = Math.max(bars.y + BARS + 8, end.bottom);
  return {
    image,
    grid,
    bars,
    title: [start[0], start[1] + 6],
    heads: end.places,
    labels: end.labels,
    specials: specials.map((_, at) => [
      4 + (at % perRow) * (CHIP[0] + 6),
      4 + Math.floor(at / perRow) * (CHIP[1] + 6),
      ...CHIP,
    ]),
    size: [width, Math.ceil(low)],
    tokens: tokens.length,
  };
}

// A row for each layer, a column for each head; thumbnails have the shape of the image.
function headsAt([left, top], [width, height], { grid, layers, heads }) {
  const [label, head] = [34, 30];
  const wide = Math.max(10, (width - label) / heads);
  const high = Math.max(10, (height - head - top) / layers);
  const each = Math.min(wide - 3, ((high - 3) * grid[1]) / grid[0], 150);
  const [w, h] = [Math.max(8, each), Math.max(8, (each * grid[0]) / grid[1])];
  const places = [];
  for (let layer = 0; layer < layers; layer++)
    for (let at = 0; at < heads; at++)
      places.push({ x: left + label + at * (w + 3), y: top + head + layer * (h + 3), w, h });
  const labels = (names) => [
    ...names.map((text, layer) => ({
      text: short(text),
      at: [left, top + head + layer * (h + 3) + h / 2],
      align: "left",
    })),
    ...(w > 18 ? Array.from({ length: heads }, (_, at) => at) : []).map((at) => ({
      text: `H${at}`,
      at: [left + label + at * (w + 3) + w / 2, top + head - 8],
      align: "center",
    })),
  ];
  return { places, labels, bottom: top + head + layers * (h + 3) + 4 };
}

const short = (name) => name.split(" ")[0];
