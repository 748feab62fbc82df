// Rows, columns and cells of maps: counted, walked, averaged, and pooled where there is less room than cells.

export const range = (length) => Array.from({ length }, (_, i) => i);

export const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

export const isIndex = (value, length) => Number.isInteger(value) && value >= 0 && value < length;

// How far an arrow key walks: rows down, columns to the right.
export const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

// The heads that a choice stands for: itself, or all that "mean" is the mean of.
export function sitesOf({ layers, heads }, layer, head) {
  const chosen = (choice, length) => (choice === "mean" ? range(length) : [choice]);
  return chosen(layer, layers).flatMap((l) => chosen(head, heads).map((h) => [l, h]));
}

// The mean over maps, summed in double precision; a row that sees no key in some of them (zeros there) is the mean over
// the others, of which `seeing` has the number.
export function meanOf(maps, seeing = null) {
  if (maps.length === 1) return maps[0];
  const sums = new Float64Array(maps[0].length);
  for (const map of maps) for (let i = 0; i < sums.length; i++) sums[i] += map[i];
  if (!seeing) return Float32Array.from(sums, (sum) => sum / maps.length);
  const cols = sums.length / seeing.length;
  return Float32Array.from(sums, (sum, i) => sum / Math.max(1, seeing[Math.floor(i / cols)]));
}

// Runs of cells in a window that are `picked`, each as [row, first column, after the last]: one box draws all of a run,
// and a long text has many cells and few runs.
export function runsOf(picked, [top, bottom], [left, right]) {
  const runs = [];
  for (let row = top; row < bottom; row++)
    for (let col = left; col < right; col++) {
      if (!picked(row, col)) continue;
      const from = col;
      while (col < right && picked(row, col)) col += 1;
      runs.push([row, from, col]);
    }
  return runs;
}

// The row and the column of a picture of that many, as it lies in the window, under a pointer; nulls outside it.
export function cellUnder({ left, top, width, height }, { clientX, clientY }, [rows, cols]) {
  const row = Math.floor(((clientY - top) / height) * rows);
  const col = Math.floor(((clientX - left) / width) * cols);
  return isIndex(row, rows) && isIndex(col, cols) ? [row, col] : [null, null];
}

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
