// The image of a payload: its pixels, and the mean brightness of each patch.

// Weights of two bytes each, the high bytes first (attnviz/patches/patches.py).
export function planesOf({ values }) {
  const count = values.length / 2;
  return Float32Array.from({ length: count }, (_, at) => (256 * values[at] + values[count + at]) / 65535);
}

export function imagesOf({ pixels, size, grid, patch }) {
  const colours = coloursOf(pixels.values, size);
  const image = new ImageData(size[1], size[0]);
  for (let at = 0; at < size[0] * size[1]; at++)
    image.data.set([colours[3 * at], colours[3 * at + 1], colours[3 * at + 2], 255], 4 * at);
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
