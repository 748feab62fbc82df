// Cells of maps, and how many of them become one where there is less room than cells.

export const range = (length) => Array.from({ length }, (_, i) => i);

export function binsOf(length, bins) {
  const bin = new Uint16Array(length);
  for (let b = 0; b < bins; b++) bin.fill(b, Math.floor((b * length) / bins), Math.floor(((b + 1) * length) / bins));
  return bin;
}

// Largest value in each of bins x bins cells, so that no peak is lost where a map is drawn smaller than its cells.
export function pooledByMax(data, [rows, cols], [height, width]) {
  if (height >= rows && width >= cols) return { data, rows, cols };
  const h = Math.min(height, rows);
  const w = Math.min(width, cols);
  const rowBin = binsOf(rows, h);
  const colBin = binsOf(cols, w);
  const pooled = new data.constructor(h * w);
  for (let row = 0, i = 0; row < rows; row++)
    for (let col = 0, at = rowBin[row] * w; col < cols; col++, i++) {
      const cell = at + colBin[col];
      if (Math.abs(data[i]) > Math.abs(pooled[cell])) pooled[cell] = data[i];
    }
  return { data: pooled, rows: h, cols: w };
}
