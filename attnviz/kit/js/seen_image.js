// An image as a model saw it (attnviz/kit/seen_image.py): its pixels, the grid of its patches, and names of its tokens.
// A place is `{ x, y, scale, side }`: the left upper corner, the size of a pixel, and height and width of a patch.

export function imagesOf({ pixels, size, grid, patch }) {
  const colours = coloursOf(pixels.values, size);
  const image = new ImageData(size[1], size[0]);
  const whole = new Uint32Array(image.data.buffer);
  for (let at = 0; at < whole.length; at++)
    whole[at] = (255 << 24) | (colours[3 * at + 2] << 16) | (colours[3 * at + 1] << 8) | colours[3 * at];
  return { image, colours, grey: brightness(colours, size, grid, patch) };
}

// Each byte is the difference to the mean of its left and upper neighbours.
function coloursOf(differences, [height, width]) {
  const colours = new Uint8Array(differences.length);
  for (let row = 0, at = 0; row < height; row++)
    for (let byte = 0; byte < 3 * width; byte++, at++) {
      const left = byte >= 3 ? colours[at - 3] : 0;
      const above = row ? colours[at - 3 * width] : 0;
      colours[at] = differences[at] + ((left + above) >> 1);
    }
  return colours;
}

function brightness(colours, [, width], [rows, columns], [high, wide]) {
  const sums = new Float32Array(rows * columns);
  for (let y = 0; y < rows * high; y++)
    for (let x = 0; x < columns * wide; x++) {
      const at = 3 * (y * width + x);
      const cell = Math.floor(y / high) * columns + Math.floor(x / wide);
      sums[cell] += (colours[at] + colours[at + 1] + colours[at + 2]) / (3 * high * wide);
    }
  return sums;
}

// The special tokens, and the token of each patch by its row and column as a text.
export function tokensIn({ tokens, places }) {
  return {
    specials: tokens.map((_, at) => at).filter((at) => !places[at]),
    tokenOf: new Map(places.map((place, at) => [String(place), at])),
  };
}

export const labelOf = ({ tokens, places }, at) =>
  places[at] ? `row ${places[at][0]}, column ${places[at][1]}` : tokens[at];

export const spokenOf = (data, at) =>
  data.places[at] ? `Row ${data.places[at][0]}, column ${data.places[at][1]}` : data.tokens[at];

export function drawSeenImage(pen, { size, grid, patch }, { image, place }) {
  const { x, y, scale } = place;
  pen.image(image, x, y, size[1] * scale, size[0] * scale);
  pen.hatch(uncovered({ size, grid, patch }, place));
}

// What lies beyond the last whole patch belongs to none.
function uncovered({ size, grid, patch }, { x, y, scale }) {
  const [high, wide] = size.map((length, axis) => (length - grid[axis] * patch[axis]) * scale);
  const [height, width] = grid.map((count, axis) => count * patch[axis] * scale);
  return [
    ...(wide > 0 ? [[x + width, y, wide, height + high]] : []),
    ...(high > 0 ? [[x, y + height, width, high]] : []),
  ];
}

export function framePatch(pen, { x, y, side: [height, width] }, [row, column], theme) {
  const box = [x + column * width, y + row * height, width, height];
  pen.box(...box, { stroke: theme.paper, width: 5 });
  pen.box(...box, { stroke: theme.accent, width: 3 });
}

// A special token above the image, with its weight, if it is known, as a colour and a number.
export function drawSpecial(pen, [x, y, w, h], { name, weight, fill, isChosen, theme }) {
  pen.box(x, y, w, h, { fill, stroke: isChosen ? theme.accent : theme.line, width: isChosen ? 3 : 1 });
  pen.box(x + 2, y + 2, w - 4, 15, { fill: theme.paper });
  pen.text(weight === null ? name : `${name} ${weight.toFixed(3)}`, x + w / 2, y + 10, { align: "center", size: 11 });
}

// The patch at a point on the canvas, `[row, column]`; the nearest one with `isNear`.
export function patchAt({ x, y, side }, grid, point, isNear = false) {
  const found = [(point[1] - y) / side[0], (point[0] - x) / side[1]].map(Math.floor);
  if (isNear) return found.map((cell, axis) => Math.max(0, Math.min(grid[axis] - 1, cell)));
  return found.every((cell, axis) => cell >= 0 && cell < grid[axis]) ? found : null;
}

// The token that an arrow key moves to from a patch or a special token; the specials are above the first row.
export function movedTo({ grid: [rows, columns], places }, { specials, tokenOf }, at, [down, right]) {
  const place = places[at];
  if (!place) return down > 0 ? tokenOf.get("0,0") : (specials[specials.indexOf(at) + right] ?? at);
  const [row, column] = [place[0] + down, place[1] + right];
  if (row < 0) return specials[0] ?? at;
  return row >= rows || column < 0 || column >= columns ? at : tokenOf.get(`${row},${column}`);
}
