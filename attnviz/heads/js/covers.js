// Rows and heads that a lesson covers until its question is answered: the numbers are not here (attnviz/maps/cover.py), and where they
// would be seen the picture says so.

// The sentence that says what ends it, in the language of the lesson.
export const coveredText = ({ covered }) => covered.said;

// Whether a head, or a mean that it is part of, is covered; `row` asks for that row alone.
export function isCovered({ covered }, layer, head, row = null) {
  if (!covered) return false;
  const { heads, rows } = covered;
  const isHere = ([own, of]) => (layer === own || layer === "mean") && (head === of || head === "mean");
  return (!heads || heads.some(isHere)) && (row === null || !rows || rows.includes(row));
}

// The same of something that is drawn; a difference is covered where either of its two maps is.
export function isTileCovered({ kind, layer, head, pair }, row = null) {
  if (pair) return pair.some(([, l, h]) => isCovered(kind, l, h, row));
  return isCovered(kind, layer, head, row);
}
