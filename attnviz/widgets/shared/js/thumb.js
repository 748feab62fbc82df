// A head's map as a thumbnail, in eight bits.

import { pooledByMax } from "./cells.js";
import { imageOf } from "./theme.js";

// `cells` are 0 to 255, `size` the height and width on the page: a map that is drawn smaller than its cells is pooled.
export function paintThumb(canvas, cells, [nRows, nCols], { size, scale }) {
  const pixels = size.map((side) => Math.floor(side * devicePixelRatio));
  const { data, rows, cols } = pooledByMax(cells, [nRows, nCols], pixels);
  if (canvas.width !== cols) canvas.width = cols;
  if (canvas.height !== rows) canvas.height = rows;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.putImageData(imageOf(data, [rows, cols], scale, [0, 255]), 0, 0);
}
