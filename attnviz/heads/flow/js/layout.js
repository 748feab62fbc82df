// Where everything is: a column a layer, the text on the left and the last layer on the right; the encoder's columns hang
// from the top, the decoder's stand on the ground. A node is as high as its share, and so is a ribbon.

const TEXT = 92; // pixels for the tokens of a text
const RIGHT = 28;
const TOP = 26;
const BOTTOM = 8;
const NODE = 9;
const MOST_GAP = 13;
const OF_HEIGHT = 0.6; // that shares take; the rest is between nodes

export function layoutOf({ nodes, heights, ribbons }, [width, height]) {
  const has = { encoder: nodes.encoder.length > 1 || nodes.encoder[0]?.length > 0, decoder: nodes.decoder.length > 0 };
  const inner = height - TOP - BOTTOM;
  const places = placesOf(heights, has, width);
  const scale = OF_HEIGHT * inner;
  const boxes = {};
  for (const stack of ["encoder", "decoder"])
    boxes[stack] = (has[stack] ? nodes[stack] : []).map((shares, at) =>
      columnOf(shares, { x: places[stack][at], inner, scale, isHanging: stack === "encoder" }),
    );
  const gap = gapOf(boxes);
  return { boxes, places, scale, gap, curves: curvesOf(ribbons, boxes, scale), width, height, top: TOP, text: TEXT };
}

// The x of each column.
function placesOf(heights, has, width) {
  const counts = [has.encoder ? heights.encoder + 1 : 0, has.decoder ? heights.decoder + 1 : 0];
  const texts = counts.filter(Boolean).length;
  const steps = Math.max(1, counts[0] + counts[1] - texts);
  const step = Math.max(12, (width - RIGHT - texts * TEXT - NODE) / steps);
  const from = (start, count) => Array.from({ length: count }, (_, i) => start + i * step);
  const encoder = from(TEXT, counts[0]);
  return { encoder, decoder: from((encoder.at(-1) ?? -12) + (counts[0] ? TEXT + 12 : 12 + TEXT), counts[1]) };
}

function columnOf(shares, { x, inner, scale, isHanging }) {
  const total = shares.reduce((sum, share) => sum + share, 0);
  const count = shares.reduce((all, share) => all + (share > 0), 0); // a token that has none takes no room
  const gap = Math.min(MOST_GAP, (inner - total * scale) / Math.max(1, count));
  let y = TOP + (isHanging ? 0 : inner - total * scale - gap * count);
  return Array.from(shares, (share) => {
    const box = { x, y: y + gap / 2, w: NODE, h: share * scale, share, left: 0, right: 0 };
    if (share > 0) y += box.h + gap;
    return box;
  });
}

const gapOf = (boxes) => {
  const [first, second] = [...boxes.encoder, ...boxes.decoder].find((column) => column.length > 1) ?? [];
  return first ? second.y - first.y - first.h : 0;
};

// Ribbons leave a node on its left and arrive on the right of the one below, each at a place of its own.
function curvesOf(ribbons, boxes, scale) {
  const order = ribbons.map((one, i) => i).sort((a, b) => byPlace(ribbons[a], ribbons[b]));
  const curves = [];
  for (const i of order) {
    const [from, to, share] = ribbons[i];
    const [above, below] = [boxOf(boxes, from), boxOf(boxes, to)];
    const w = share * scale;
    curves.push({
      from,
      to,
      share,
      w,
      a: [above.x, above.y + above.left + w / 2],
      b: [below.x + NODE, below.y + below.right + w / 2],
    });
    above.left += w;
    below.right += w;
  }
  return curves;
}

const boxOf = (boxes, [stack, height, at]) => boxes[stack][height][at];

// Ribbons up to the encoder leave above those that stay; within that, as the tokens stand.
const byPlace = ([from, to], [otherFrom, otherTo]) =>
  from[2] - otherFrom[2] || (to[0] === otherTo[0] ? to[2] - otherTo[2] : to[0] === "encoder" ? -1 : 1);

export const STEPS = 14; // straight pieces of a curve

export function pointsOf({ a, b }) {
  const points = [];
  const middle = (a[0] + b[0]) / 2;
  for (let i = 0; i <= STEPS; i++) {
    const t = i / STEPS;
    const [u, v] = [(1 - t) ** 3 + 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2 + t ** 3];
    const x = (1 - t) ** 3 * a[0] + 3 * (1 - t) ** 2 * t * middle + 3 * (1 - t) * t ** 2 * middle + t ** 3 * b[0];
    points.push([x, u * a[1] + v * b[1]]);
  }
  return points;
}
