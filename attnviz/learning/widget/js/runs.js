// A run in the browser: what holds of it throughout, and its moments.

import { range } from "../../../kit/js/cells.js";

const CONFUSION = 100; // counts of ten digits that are read as ten digits
const LEVEL = 0.5; // above it a head counts as having found what it looks for

// `about` as attnviz/learning/widget/payload.py has it; each kind gets the offset of its maps in those of a moment.
export function readAbout(about) {
  return { ...about, ...withPlaces(about.kinds), lines: about.lines.map(([src, tgt]) => ({ src, tgt })) };
}

export function withPlaces(raw) {
  let cells = 0;
  const kinds = raw.map((kind) => {
    const [layers, heads, nRows, nCols] = kind.shape;
    const placed = { ...kind, layers, heads, nRows, nCols, at: cells };
    cells += layers * heads * nRows * nCols;
    return placed;
  });
  return { kinds, cells };
}

export function readMoments(block, array, about) {
  const count = block.steps.length;
  const lines = about.lines.length;
  const nScores = about.scores.length;
  const of = (Type, offset, size) => {
    const all = array(Type, offset, size * count);
    return (i) => all.subarray(i * size, (i + 1) * size);
  };
  const curves = of(Float32Array, block.curves, 3);
  const scores = of(Float32Array, block.scores, nScores);
  const maps = of(Uint8Array, block.maps, about.cells);
  const wrote = of(Uint8Array, block.wrote, lines * block.longest);
  const losses = lossesOf(block, array);
  const confusion = block.confusion === undefined ? null : of(Float32Array, block.confusion, CONFUSION);
  return range(count).map((i) => {
    const [held, teacher, own] = curves(i);
    const said = range(lines).map((line) => wordsOf(about, wrote(i).subarray(line * block.longest), block.longest));
    const loss = meanOf(losses(i));
    return {
      step: block.steps[i],
      held,
      teacher,
      own,
      loss,
      losses: losses(i),
      scores: scores(i),
      maps: maps(i),
      said,
      confusion: confusion?.(i) ?? null,
    };
  });
}

// The updates since the moment before; `first` is that before the first, of a piece of a run no 0.
function lossesOf({ steps, first, losses }, array) {
  const all = array(Float32Array, losses, steps.at(-1) - first);
  return (i) => all.subarray((i ? steps[i - 1] : first) - first, steps[i] - first);
}

const meanOf = (numbers) => (numbers.length ? numbers.reduce((sum, number) => sum + number, 0) / numbers.length : null);

const SPECIAL = 3; // <pad>, <bos>, <eos>

function wordsOf({ words }, ids, longest) {
  return [...ids.subarray(0, longest)].filter((id) => id >= SPECIAL).map((id) => words[id]);
}

// One head's map at a moment, 0 to 255.
export function mapOf(kind, maps, layer, head) {
  const size = kind.nRows * kind.nCols;
  const start = kind.at + (layer * kind.heads + head) * size;
  return maps.subarray(start, start + size);
}

// The newest moment of a run that is not after an update: runs of other lengths go in step by their updates.
export function momentAt(moments, step) {
  let at = 0;
  while (at + 1 < moments.length && moments[at + 1].step <= step) at += 1;
  return at;
}

// A head's role: of its scores the one that has been highest so far, its value now, and the update after which it
// was first above the level, if it was.
export function strongest({ about, moments }, [kind, layer, head], at) {
  let best = null;
  about.scores.forEach(([name, ofKind, l, h], i) => {
    if (ofKind !== kind || l !== layer || h !== head) return;
    let peak = -1;
    let passed = null;
    for (let m = 0; m <= at; m++) {
      const value = moments[m].scores[i];
      if (value > peak) peak = value;
      if (passed === null && value > LEVEL) passed = moments[m].step;
    }
    if (!best || peak > best.peak) best = { name, peak, passed, value: moments[at].scores[i] };
  });
  return best;
}

// Which words of a line are wrong, and how many are missing: place by place, as the exact match counts.
export function marked(said, right) {
  const words = said.map((word, i) => ({ word, isWrong: word !== right[i] }));
  return { words, missing: Math.max(0, right.length - said.length), isRight: said.join(" ") === right.join(" ") };
}
