// Numbers and names as people read them.

// Five significant digits, and no long tails of zeros.
export function exactText(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size < 1e-4 ? value.toExponential(4) : value.toPrecision(5);
}

// Two decimals, or one from 10 on, with a minus as wide as a plus; no zero is below zero.
export function shortText(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
  return Number(text) === 0 ? "0.00" : text.replace("-", "−");
}

// A share as a percentage. What is above zero never reads 0%.
export const percentText = (value) =>
  value >= 0.9995
    ? "100%"
    : value >= 0.1
      ? `${(value * 100).toFixed(1)}%`
      : value >= 0.0001
        ? `${(value * 100).toFixed(2)}%`
        : value > 0
          ? "<0.01%"
          : "0%";

// Two shares side by side, with as many digits as tell them apart; none is null.
export function percentTexts(before, after) {
  const texts = [before, after].map((value) => (value === null ? "NaN" : percentText(value)));
  if (texts[0] !== texts[1] || before === after) return texts;
  const longer = [3, 4, 5, 6].map((digits) => [before, after].map((value) => `${(value * 100).toPrecision(digits)}%`));
  return longer.find(([one, other]) => one !== other) ?? texts;
}

// Names of sites as people read them: layers and heads count from 0.
export function siteName(layer, head) {
  if (layer === "mean" && head === "mean") return "mean of all heads";
  if (head === "mean") return `L${layer} mean over heads`;
  if (layer === "mean") return `H${head} mean over layers`;
  return `L${layer} H${head}`;
}

// Which layers of the model are shown, where others do not attend: L0 need not be its layer 0.
export const attendingNote = (numbers) =>
  `only layers with attention are counted: ${numbers.map((own, layer) => `L${layer} is layer ${own}`).join(", ")} in the model’s own numbering`;

// The columns of a table that say which layer: its place here, and its own number where that is another.
export const layerNames = (numbers) => (numbers.length ? ["layer", "model_layer"] : ["layer"]);
export const layerCells = (numbers, layer) => (numbers.length ? [layer, numbers[layer]] : [layer]);

export const rowName = ([input, output]) =>
  output === null ? input : input === null ? output : `${input} → ${output}`;

// Direction isolates keep right-to-left tokens from reordering the words around them.
export const isolated = (text) => `\u2068${text}\u2069`;
