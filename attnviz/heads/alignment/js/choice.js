// The view, and the payload's links and scores for it (attnviz/heads/alignment/alignment.py).

export const AT_ONCE = ["way"]; // only Python has another way's scores

// The way whose scores these are; a newer choice may still be on its way.
export const wayOf = ({ payload, view }) =>
  payload.header.ways.find(({ name }) => name === view.way) ?? payload.header.ways[0];

export function wayText({ method, layer, head, reading }) {
  const at = head !== null ? `L${layer} H${head}` : layer !== null ? `L${layer}` : "";
  const read = method === "attribution" || method === "diagonal" ? "" : `, word ${reading}`;
  const all = !at && ["attribution", "mean of heads", "norm of heads' sum"].includes(method) ? ", all layers" : "";
  return `${method}${at && ` ${at}`}${all}${read}`;
}

export const linksOf = ({ payload, view }) => payload.header.links[view.null ? "null" : "all"];

// A word's scores, that of no word last.
export function scoresOf({ payload }, tgt) {
  const { header, array } = payload;
  const count = header.src.length + 1;
  return array(Float32Array, header.scores + 4 * tgt * count, count);
}

// How much of what speaks for a source word each has, of a row's scores; what speaks against it counts as nothing.
export function sharesOf(scores) {
  let total = 0;
  for (const score of scores) total += Math.max(0, score);
  return Float64Array.from(scores, (score) => (total > 0 ? Math.max(0, score) / total : 0));
}

// Word for word as Pharaoh wrote it: source-target, counted from 0, in the order of the source.
export const pharaoh = (links) =>
  [...links]
    .sort(([a, b], [c, d]) => a - c || b - d)
    .map(([src, tgt]) => `${src}-${tgt}`)
    .join(" ");

export const isLinked = (links, src, tgt) => links?.some(([s, t]) => s === src && t === tgt) ?? false;

// The ways in the order of a column: what has no number comes last.
export function ordered(ways, { column, isUp }) {
  const valueOf = (way) => (column === "way" ? wayText(way) : way[column]);
  return [...ways].sort((a, b) => {
    const [one, other] = [valueOf(a), valueOf(b)];
    if (one === null || other === null) return (one === null) - (other === null);
    const order = typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other;
    return isUp ? order : -order;
  });
}
