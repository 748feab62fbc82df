// Which layers of a stack are drawn how: one in full, each of the others as a bar, and many of one build as one bar that
// opens. A segment is { type: "full" | "bar" | "fold", layers }, the first layer first.

const MOST_BARS = 2; // layers of one build that need no folding

// The facts in which two layers must agree to be folded into one bar.
const buildOf = ({ sites, feed_forward, beside, is_parallel }) =>
  JSON.stringify([sites.map(([kind]) => kind), feed_forward, beside, is_parallel]);

// The layer of a stack that is drawn in full: that of the site, else the attending one nearest to its number.
export function fullLayer({ layers }, here) {
  const attending = layers.filter(({ sites }) => sites.length);
  const asked = attending.find(({ sites }) => sites.some(([kind, at]) => kind === here.kind && at === here.layer));
  const near = attending.find(({ sites }) => sites[0][1] === (here.layer ?? 0));
  return asked ?? near ?? attending.at(-1) ?? layers[0];
}

export const foldName = (stack, layers) => `${stack}-${layers[0].number}-${layers.at(-1).number}`;

// `opened` are the names of folds that are open.
export function segmentsOf(plan, full, opened) {
  const runs = [];
  for (const layer of plan.layers) {
    const last = runs.at(-1);
    const joins = last && layer !== full && last[0] !== full && buildOf(last[0]) === buildOf(layer);
    if (joins) last.push(layer);
    else runs.push([layer]);
  }
  return runs.flatMap((layers) => {
    if (layers[0] === full) return [{ type: "full", layers }];
    const bars = layers.map((layer) => ({ type: "bar", layers: [layer] }));
    if (layers.length <= MOST_BARS) return bars;
    const name = foldName(plan.stack, layers);
    const fold = { type: "fold", layers, name, isOpen: opened.has(name) };
    return fold.isOpen ? [fold, ...bars] : [fold];
  });
}

export const foldText = ({ layers, isOpen }) => {
  const [first, last] = [layers[0].number, layers.at(-1).number];
  return isOpen ? `fold layers ${first} to ${last}` : `${layers.length} identical layers: ${first} to ${last}`;
};

export function barText({ number, sites, beside }) {
  return sites.length ? `layer ${number}` : `layer ${number}: ${beside || "no attention"}`;
}
