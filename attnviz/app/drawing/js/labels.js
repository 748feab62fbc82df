// Labels of the drawing's boxes, from the known facts of the model; unknown facts have none.

const count = (number) => number.toLocaleString("en");
const ADDED = /sinusoidal|learned table/;

// Positions that are added to embeddings have a box; others act inside attention, and its box names them.
export const addedPositions = ({ positions }) =>
  positions
    .split(", ")
    .filter((way) => ADDED.test(way))
    .join(", ");
const innerPositions = ({ positions }) =>
  positions
    .split(", ")
    .filter((way) => way && way !== "none" && way !== "added" && !ADDED.test(way))
    .join(", ");

export function attentionTitle(kind, { heads, sees_ahead: ahead }) {
  const many = heads > 1 ? "multi-head " : "";
  const name = kind === "cross" ? "cross-attention" : "self-attention";
  const masked = kind === "decoder_self" && !ahead ? "masked " : "";
  const said = `${masked}${many}${name}`;
  return said[0].toUpperCase() + said.slice(1);
}

export function attentionSize(built, { heads, d_k, groups }, kind) {
  const sizes = [heads === 1 ? "1 head" : `${heads} heads`];
  if (d_k) sizes.push(`d_k ${d_k}`);
  if (groups && groups < heads) sizes.push(groups === 1 ? "keys shared by all" : `${groups} groups of keys`);
  if (kind !== "cross" && innerPositions(built)) sizes.push(innerPositions(built));
  return sizes.join(" · ");
}

export function networkSize({ d_model: width }, { d_ff: inner, is_gated: gated, experts, active }) {
  const sizes = [];
  if (inner && width) sizes.push(`${count(width)} → ${count(inner)} → ${count(width)}`);
  else if (inner) sizes.push(`d_ff ${count(inner)}`);
  if (experts) sizes.push(`${experts} experts${active ? `, ${active} a token` : ""}`);
  if (gated) sizes.push("gated");
  return sizes.join(" · ");
}

export const embeddingSize = ({ vocabulary, d_model: width }) =>
  vocabulary && width ? `${count(vocabulary)} × ${count(width)}` : vocabulary ? `${count(vocabulary)} entries` : "";

export function scoresSize({ vocabulary, d_model: width, is_tied: tied }) {
  const size = vocabulary && width ? `${count(width)} → ${count(vocabulary)}` : "";
  return [size, tied ? "the embedding’s own matrix" : ""].filter(Boolean).join(" · ");
}

export const endTitle = ({ ends }) =>
  ends === "tokens" ? "Probabilities of the next token" : "Probabilities of each token’s place";
