// One row of the last layer, followed back through the layers: at each, what it is made of is split into what it keeps
// and what it reads (attnviz/analysis/mixing.py). Sublayers stand as they run, so that the last comes first.

export const AT_ONCE = ["by", "flow"]; // only Python computes these

export function settle(app) {
  const { header } = app.payload;
  const { view } = app;
  if (view.row >= header.rows.length) view.row = Math.floor(header.rows.length / 2);
}

export function sublayersOf({ header, array }, by) {
  const offsets = header.read[by] ?? header.read.rollout;
  return header.sublayers.map((one, i) => ({ ...one, read: array(Float32Array, offsets[i], one.rows * one.keys) }));
}

// `source` and `target`: shares of the tokens; together 1. `nodes`: by stack and height (0 is the text), the share of
// each position. `ribbons` of `faintest` and more: [[stack, height, position], [stack, height, position], share], from above to below.
export function followBack(sublayers, row, residual, faintest = 0) {
  const stack = ({ kind }) => (kind === "encoder_self" ? "encoder" : "decoder");
  const heights = { encoder: 0, decoder: 0 };
  for (const one of sublayers) if (one.kind !== "cross") heights[stack(one)] += 1;
  const found = { nodes: { encoder: [], decoder: [] }, ribbons: [], heights, faintest, faint: 0 };
  const top = stack(sublayers.at(-1));
  const memory = new Float64Array(memoryLength(sublayers));
  let own = new Float64Array(sublayers.at(-1).rows);
  own[row] = 1;
  if (top === "decoder") own = throughDecoder(sublayers, own, memory, residual, found);
  const source = throughEncoder(sublayers, top === "decoder" ? memory : own, residual, found);
  return { ...found, source, target: top === "decoder" ? own : new Float64Array(0) };
}

const memoryLength = (sublayers) => sublayers.find(({ kind }) => kind !== "decoder_self")?.keys ?? 0;

function throughDecoder(sublayers, start, memory, residual, found) {
  const { nodes } = found;
  const selves = sublayers.filter(({ kind }) => kind === "decoder_self");
  const crosses = sublayers.filter(({ kind }) => kind === "cross");
  let own = start;
  for (let height = selves.length; height > 0; height--) {
    nodes.decoder[height] = own;
    const kept = crosses.length ? splitCross(crosses[height - 1], own, memory, residual, [height, found]) : own;
    own = splitSelf(selves[height - 1], kept, residual, ["decoder", height, found]);
  }
  nodes.decoder[0] = own;
  return own;
}

function throughEncoder(sublayers, start, residual, found) {
  const { nodes, heights } = found;
  const selves = sublayers.filter(({ kind }) => kind === "encoder_self");
  let own = start;
  for (let height = heights.encoder; height > 0; height--) {
    nodes.encoder[height] = own;
    own = splitSelf(selves[height - 1], own, residual, ["encoder", height, found]);
  }
  nodes.encoder[0] = own;
  return own;
}

// Returns the shares that stay in the decoder, and adds those that it reads to the memory's.
function splitCross({ read, rows, keys }, own, memory, residual, [height, found]) {
  const kept = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    let taken = 0;
    for (let j = 0; j < keys && own[i]; j++) {
      const share = (1 - residual) * read[i * keys + j];
      taken += share;
      if (!share) continue;
      memory[j] += own[i] * share;
      add(found, ["decoder", height, i], ["encoder", found.heights.encoder, j], own[i] * share);
    }
    kept[i] = own[i] * (1 - taken);
  }
  return kept;
}

function splitSelf({ read, rows }, own, residual, [stack, height, found]) {
  const below = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    if (!own[i]) continue;
    let taken = 0;
    for (let j = 0; j < rows; j++) taken += (1 - residual) * read[i * rows + j];
    for (let j = 0; j < rows; j++) {
      const share = own[i] * ((1 - residual) * read[i * rows + j] + (i === j ? 1 - taken : 0));
      if (!share) continue;
      below[j] += share;
      add(found, [stack, height, i], [stack, height - 1, j], share);
    }
  }
  return below;
}

// A long text has hundreds of thousands that are too thin to see.
function add(found, above, below, share) {
  if (share < found.faintest) found.faint += 1;
  else found.ribbons.push([above, below, share]);
}
