// Weights on an image that is cut into patches: little weight is dark, or each weight is a colour; the largest weights have
// an outline, so that they can be seen on dark images and on light ones.

const LIT = 0.5; // share of the largest weight from which a patch has an outline
const VEIL = 0.7; // how dark a patch without weight is: dark ink on light paper can still be seen
const GRID = { stroke: "rgba(128,128,128,0.45)", width: 0.5 };

// Draws weights over an image that stands at `place` `{ x, y, side }`: the upper left corner, and a patch's height and
// width. `grid` is the number of rows and columns, and `shares` has each patch's share of the largest weight, row by row.
// `steps` are 256 colours for the look "colour".
export function drawPatchWeights(pen, { place, grid }, shares, { look = "light", steps = [], width = 1 } = {}) {
  const { x, y, side } = place;
  const [rows, columns] = grid;
  const [high, wide] = [rows * side[0], columns * side[1]];
  pen.image(veilOf(grid, shares, look, steps), x, y, wide, high);
  for (let row = 0; row <= rows; row++) pen.line(x, y + row * side[0], x + wide, y + row * side[0], GRID);
  for (let column = 0; column <= columns; column++)
    pen.line(x + column * side[1], y, x + column * side[1], y + high, GRID);
  outline(pen, { place, grid }, (row, column) => shares[row * columns + column] >= LIT, width);
}

// A pixel for each patch: dark where there is no weight, or in the colour of the weight.
function veilOf([rows, columns], shares, look, steps) {
  const veil = new ImageData(columns, rows);
  shares.forEach((share, cell) => {
    const [r, g, b] = look === "colour" ? steps[Math.round(255 * share)] : [0, 0, 0];
    const alpha = look === "colour" ? 0.25 + 0.6 * share : VEIL * (1 - share);
    veil.data.set([r, g, b, Math.round(255 * alpha)], 4 * cell);
  });
  return veil;
}

// Around every group of patches that `isLit`: light inside dark, so that it shows on any image.
function outline(pen, { place: { x, y, side }, grid }, isLit, times) {
  const [height, width] = side;
  const lit = (row, column) => row >= 0 && column >= 0 && row < grid[0] && column < grid[1] && isLit(row, column);
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
