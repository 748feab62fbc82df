// The matrices' numbers, and what a cell is called.

export const MEASURED = 0;
export const OUTSIDE = 1;
export const ALONE = 2;
export const LEFT_OUT = 3;

export const SAID = {
  [OUTSIDE]: "cannot affect this answer",
  [ALONE]: "has no partner in the other sentence",
  [LEFT_OUT]: "was not run: in a long text, only the cells where the two runs differ most are run",
};

export const UNIT = { share: "restored", moved: "control" };

export function numbersOf(app, at) {
  const matrix = app.payload.header.matrices[at];
  const [rows, cols] = matrix.size;
  const floats = (name) => app.payload.array(Float32Array, matrix[name], rows * cols);
  return {
    share: floats("share"),
    moved: floats("moved"),
    patched: floats("patched"),
    state: app.payload.array(Uint8Array, matrix.state, rows * cols),
  };
}

export function rowName({ first_layer: first, layer_numbers: numbers }, row) {
  const layer = row + first;
  if (layer < 0) return "emb.";
  return numbers.length ? `L${numbers[layer]}` : `L${layer}`;
}
