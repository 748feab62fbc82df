// The measure in a map's cells: the weight, or the vector that the head writes from its key
// (attnviz/heads/cells.py). Labels speak of the numbers that are here; requested ones may be on their way.

// name: in tips and titles. legend: what it is. column: in a table. sum: before the sum of a row.
const MEASURES = {
  weight: { name: "weight", legend: "weight", column: "weight", sum: "Σ =", verb: "looks at" },
  norm: {
    name: "‖α f(x)‖",
    legend: "‖α f(x)‖: how much the head writes from each key",
    column: "norm",
    sum: "Σ of norms =",
    verb: "writes from",
  },
  share: {
    name: "share of the output",
    legend: "share of what the sublayer puts out (ALTI), by head and key",
    column: "share",
    sum: "of the row’s output, Σ =",
    verb: "writes from",
  },
};

export const drawnMeasure = ({ payload }) => MEASURES[payload.header.cells?.measure ?? "weight"];

export const isOfWeights = (app) => drawnMeasure(app) === MEASURES.weight;

// Why the weight is drawn where something else was asked for.
export const insteadNote = ({ payload }) => {
  const why = payload.header.cells?.why;
  return why ? `weights, because what heads write is not known here: ${why}` : "";
};
