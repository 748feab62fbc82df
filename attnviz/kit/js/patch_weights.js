// Weights on an image that is cut into patches: little weight is dark, or each weight is a colour; the largest weights have
// an outline, so that they can be seen on dark images and on light ones.

const LIT = 0.5; // share of the largest weight from which a patch has an outline
const VEIL = 0.7; // how dark a patch without weight is: dark ink on light paper can still be seen
const GRID = { stroke: "rgba(128,128,128,0.45)", width: 0.5 };

// Draws weights over an image that stands at `place` `{ x, y, side }`: the upper left corner, and a patch's height and
// width. `grid` is the number of rows and columns, and `shares` has each patch's share of the largest weight, row by row.
// `steps` are 256 colours for the look "colour".
export function drawPatchWeights(pen, { place, grid }, shares, { look = "light", steps = [], width = 1 } = {}) {
  drawOverPatches(pen, { place, grid }, (cell) => {
    const share = shares[cell];
    return look === "colour" ? [...steps[Math.round(255 * share)], 0.25 + 0.6 * share] : [0, 0, 0, VEIL * (1 - share)];
  });
  outlinePatches(pen, { place, grid }, (cell) => shares[cell] >= LIT, width);
}

// Draws a colour over each patch, `[red, green, blue, opacity]` of `colourAt(cell)`, and the grid. Cells count row by row.
export function drawOverPatches(pen, { place: { x, y, side }, grid: [rows, columns] }, colourAt) {
  const [high, wide] = [rows * side[0], columns * side[1]];
  const veil = new ImageData(columns, rows);
  for (let cell = 0; cell < rows * columns; cell++) {
    const [red, green, blue, opacity] = colourAt(cell);
    veil.data.set([red, green, blue, Math.round(255 * opacity)], 4 * cell);
  }
  pen.image(veil, x, y, wide, high);
  for (let row = 0; row <= rows; row++) pen.line(x, y + row * side[0], x + wide, y + row * side[0], GRID);
  for (let column = 0; column <= columns; column++)
    pen.line(x + column * side[1], y, x + column * side[1], y + high, GRID);
}

// Around every group of patches that `isLit`: light inside dark, so that it shows on any image.
export function outlinePatches(pen, { place: { x, y, side }, grid }, isLit, times = 1) {
  const [height, width] = side;
  const lit = (row, column) =>
    row >= 0 && column >= 0 && row < grid[0] && column < grid[1] && isLit(row * grid[1] + column);
  for (const look of [
    { stroke: "#000", width: 4 * times },
    { stroke: "#fff", width: 2 * times },
  ])
    for (let row = 0; row < grid[0]; row++)
      for (let column = 0; column < grid[1]; column++) {
        if (!lit(row, column)) continue;
        const [l, t] = [x + column * width, y + row * height];
        if (!lit(row - 1, column)) pen.line(l, t, l + width, t, look);
        if (!lit(row + 1, column)) pen.line(l, t + height, l + width, t + height, look);
        if (!lit(row, column - 1)) pen.line(l, t, l, t + height, look);
        if (!lit(row, column + 1)) pen.line(l + width, t, l + width, t + height, look);
      }
}
