// The picture Hide patches: draw on the image to hide patches, and see what the model does without them.

import { drawnPicture } from "attnviz";
import { drawOverPatches, drawPatchWeights, outlinePatches } from "../../kit/js/patch_weights.js";
import {
  drawSeenImage,
  drawSpecial,
  framePatch,
  imagesOf,
  labelOf,
  movedTo,
  patchAt,
  spokenOf,
  tokensIn,
} from "../../kit/js/seen_image.js";
import { paintOf, textOf } from "../js/painting.js";
import { layoutOf } from "./layout.js";

const HALF = 0.5; // share of the largest weight or difference from which a patch is outlined
const COVER = [120, 120, 120, 0.92]; // over a hidden patch
const [GAIN, LOSS] = [
  [40, 120, 255],
  [255, 140, 0],
];
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const known = new WeakMap(); // what was made of a payload's data
const strokes = new WeakMap(); // of a drag, by the point where it began: the last patch, and whether it hides

function factsOf({ data }) {
  if (!known.has(data)) known.set(data, { ...tokensIn(data), ...imagesOf(data) });
  return known.get(data);
}

const chosenOf = ({ data, view }) => Math.min(view.at ?? 0, data.tokens.length - 1);
const visibleIn = ({ data, view }) => paintOf(view.hidden, ...data.grid);
const isHidden = (visible, { grid }, place) => Boolean(place) && !visible[place[0] * grid[1] + place[1]];
const isAsked = ({ data, view }) => data.hidden === view.hidden; // whether the numbers are of these hidden patches

// The weights that lie on the image, and their largest: the same for both runs, so that they can be compared.
function weightsOf({ data, view }) {
  const [before, after] = [data.before.values, data.after.values];
  const change = after.map((weight, token) => weight - before[token]);
  const shown = { before, after, change }[view.run];
  const peak = view.run === "change" ? Math.max(...change.map(Math.abs)) : Math.max(...before, ...after);
  return { before, after, shown, peak: peak || 1 };
}

const sceneOf = (picture, size) => {
  const facts = factsOf(picture);
  return {
    ...facts,
    ...weightsOf(picture),
    visible: visibleIn(picture),
    layout: layoutOf(picture.data, size, facts.specials),
  };
};

function draw(picture, pen, size) {
  const scene = sceneOf(picture, size);
  drawBrush(picture, pen, scene);
  drawShown(picture, pen, scene);
  drawMoved(picture, pen, scene);
  drawSimilarity(picture, pen, scene);
}

function drawBrush({ data, view, theme }, pen, { layout, image, visible }) {
  const { brush, grid, titles } = layout;
  const at = { place: brush, grid };
  drawSeenImage(pen, data, { image, place: brush });
  drawOverPatches(pen, at, (cell) => (visible[cell] ? [0, 0, 0, 0] : COVER));
  pen.hatch(boxesOf(at, (cell) => !visible[cell]));
  outlinePatches(pen, at, (cell) => !visible[cell]);
  const place = data.places[Math.min(view.at ?? 0, data.tokens.length - 1)];
  if (place) framePatch(pen, brush, place, theme);
  pen.text(`Hidden: ${hiddenIn(visible)} of ${visible.length} patches`, ...titles[0], { size: 11.5, weight: 600 });
}

const hiddenIn = (visible) => visible.filter((one) => !one).length;

const boxesOf = ({ place: { x, y, side }, grid: [rows, columns] }, isIn) =>
  Array.from({ length: rows * columns }, (_, cell) => cell)
    .filter(isIn)
    .map((cell) => [x + (cell % columns) * side[1], y + Math.floor(cell / columns) * side[0], side[1], side[0]]);

function drawShown(picture, pen, { layout, image, specials, tokenOf, shown, peak }) {
  const { data, view, theme, colour } = picture;
  const { shown: place, grid, titles, chips } = layout;
  const shares = Array.from({ length: grid[0] * grid[1] }, (_, cell) => {
    return shown[tokenOf.get(`${Math.floor(cell / grid[1])},${cell % grid[1]}`)] / peak;
  });
  drawSeenImage(pen, data, { image, place });
  if (view.run === "change") drawChange(pen, { place, grid }, shares);
  else drawPatchWeights(pen, { place, grid }, shares);
  if (data.places[data.at]) framePatch(pen, place, data.places[data.at], theme);
  specials.forEach((token, number) =>
    drawSpecial(pen, chips[number], {
      name: data.tokens[token],
      weight: shown[token],
      fill: colour(Math.abs(shown[token]) / peak),
      isChosen: token === data.at,
      theme,
    }),
  );
  const which = { before: "before hiding", after: "after hiding", change: "difference" }[view.run];
  pen.text(`From ${labelOf(data, data.at)}, ${which}`, ...titles[1], { size: 11.5, weight: 600 });
}

function drawChange(pen, at, shares) {
  drawOverPatches(pen, at, (cell) => [...(shares[cell] < 0 ? LOSS : GAIN), 0.85 * Math.abs(shares[cell])]);
  pen.hatch(boxesOf(at, (cell) => shares[cell] <= -HALF));
  outlinePatches(pen, at, (cell) => shares[cell] >= HALF);
}

function drawMoved({ data, theme, colour }, pen, { layout: { moved } }) {
  const { values } = data.moved;
  const peak = Math.max(...values) || 1;
  pen.text("Weight that moved, every head", ...moved.title, { size: 11.5, weight: 600 });
  moved.cells.forEach(([x, y, w, h], number) => {
    const isOpen = number === data.site[0] * data.heads + data.site[1];
    pen.box(x, y, w, h, {
      fill: colour(values[number] / peak),
      stroke: isOpen ? theme.accent : theme.line,
      width: isOpen ? 3 : 1,
    });
  });
  const quiet = { size: 10.5, colour: theme.muted };
  moved.rows.forEach((at, layer) => pen.text(data.names[layer].split(" ")[0], ...at, quiet));
  if (moved.hasNames) moved.columns.forEach((at, head) => pen.text(`H${head}`, ...at, { ...quiet, align: "center" }));
}

// A bar for each layer, from 0 to 1; a negative similarity has no bar, and its number says it.
function drawSimilarity({ data, theme }, pen, { layout: { lines } }) {
  const { x, y, w, h } = lines;
  const [label, number] = [52, 54];
  pen.text(`${sentenceCase(data.summary)}: similarity to before`, x, y - 13, { size: 11.5, weight: 600 });
  data.steps.forEach((name, at) => {
    const value = data.similarity.values[at];
    const middle = y + at * h + h / 2;
    const full = Math.max(10, w - label - number);
    pen.text(name.split(" ")[0], x, middle, { size: 10.5, colour: theme.muted });
    pen.box(x + label, middle - 5, full, 10, { stroke: theme.line });
    pen.box(x + label, middle - 5, full * Math.max(0, Math.min(1, value)), 10, { fill: theme.muted });
    pen.text(value.toFixed(4), x + w, middle, { size: 10.5, align: "right" });
  });
}

const sentenceCase = (text) => text[0].toUpperCase() + text.slice(1);

const isInside = ([x, y, w, h], at) => at[0] >= x && at[0] < x + w && at[1] >= y && at[1] < y + h;

function targetAt(picture, at, size) {
  const { layout, specials, tokenOf } = sceneOf(picture, size);
  const [painted, looked] = [layout.brush, layout.shown].map((place) => patchAt(place, layout.grid, at));
  if (painted) return { patch: painted, token: tokenOf.get(painted.join()), paints: true };
  if (looked) return { token: tokenOf.get(looked.join()) };
  const special = layout.chips.findIndex((one) => isInside(one, at));
  if (special >= 0) return { token: specials[special] };
  const number = layout.moved.cells.findIndex((one) => isInside(one, at));
  return number < 0 ? null : { number, head: [Math.floor(number / picture.data.heads), number % picture.data.heads] };
}

function point(picture, at, size) {
  const target = targetAt(picture, at, size);
  if (!target) return null;
  const { data } = picture;
  if (target.head)
    return `${data.names[target.head[0]]} H${target.head[1]}: ${percent(data.moved.values[target.number])} moved`;
  const { before, after } = weightsOf(picture);
  const hidden = isHidden(visibleIn(picture), data, data.places[target.token]) ? ", hidden" : "";
  const numbers = `${before[target.token].toPrecision(4)} before, ${after[target.token].toPrecision(4)} after`;
  return `${spokenOf(data, target.token)}${hidden}: ${numbers}`;
}

const percent = (share) => `${(100 * share).toFixed(1)}%`;

function click(picture, at, size) {
  const target = targetAt(picture, at, size);
  if (!target) return null;
  if (target.paints) return painted(picture, [target.patch], !isHidden(visibleIn(picture), picture.data, target.patch));
  return target.head ? { layer: target.head[0], head: target.head[1] } : { at: target.token };
}

// A stroke hides, or shows again if it begins on a hidden patch. Patches between two points of the pointer are included.
function drag(picture, from, to, size) {
  const { data } = picture;
  const { brush, grid } = sceneOf(picture, size).layout;
  const first = patchAt(brush, grid, from);
  if (!first) return null;
  const stroke = strokes.get(from) ?? { last: first, hides: !isHidden(visibleIn(picture), data, first) };
  const next = patchAt(brush, grid, to, true);
  const between = cellsBetween(stroke.last, next);
  strokes.set(from, { ...stroke, last: next });
  return painted(picture, between, stroke.hides);
}

function cellsBetween(one, other) {
  const steps = Math.max(1, ...[0, 1].map((axis) => Math.abs(other[axis] - one[axis])));
  const at = (share) => [0, 1].map((axis) => Math.round(one[axis] + share * (other[axis] - one[axis])));
  return Array.from({ length: steps + 1 }, (_, step) => at(step / steps));
}

const painted = (picture, patches, hides) => {
  const visible = visibleIn(picture);
  for (const [row, column] of patches) visible[row * picture.data.grid[1] + column] = hides ? 0 : 1;
  return hiddenBy(picture, visible);
};

// A model without special tokens keeps one patch: a row without any key has no weights.
function hiddenBy(picture, visible) {
  const { data, view } = picture;
  if (!visible.includes(1) && !factsOf(picture).specials.length) return {};
  const hidden = textOf(visible, ...data.grid);
  return hidden === view.hidden ? {} : { hidden };
}

// Arrows choose a token, with Shift they hide the patches that they reach; Space hides a patch or shows it again.
function pressed(picture, name, { shiftKey } = {}) {
  const { data, view } = picture;
  const at = chosenOf(picture);
  if (name === "Escape") return view.hidden ? { hidden: "" } : null;
  if (name === "i")
    return hiddenBy(
      picture,
      visibleIn(picture).map((one) => 1 - one),
    );
  if (name === "[" || name === "]") return nextHead(picture, name === "]" ? 1 : -1);
  if (name === " ") {
    const place = data.places[at];
    return place ? painted(picture, [place], !isHidden(visibleIn(picture), data, place)) : null;
  }
  if (!(name in STEPS)) return null;
  const next = movedTo(data, factsOf(picture), at, STEPS[name]);
  if (next === at) return {};
  return { at: next, ...(shiftKey && data.places[next] && painted(picture, [data.places[next]], true)) };
}

function nextHead({ data, view }, by) {
  const count = data.layers * data.heads;
  const next = (view.layer * data.heads + view.head + by + count) % count;
  return { layer: Math.floor(next / data.heads), head: next % data.heads };
}

const titleOf = ({ data }) => `${data.names[data.site[0]]} H${data.site[1]}, from ${labelOf(data, data.at)}`;

function wordsOf(picture) {
  const { data } = picture;
  const visible = paintOf(data.hidden, ...data.grid);
  const count = hiddenIn(visible);
  if (!isAsked(picture)) return ["The model runs with these hidden patches …"];
  if (!count && data.alone) return ["No patch is hidden."];
  if (!count)
    return [
      "No patch is hidden. Draw on the left image, or move with the arrow keys and press Space, to hide patches.",
    ];
  const { values } = data.moved;
  const most = values.indexOf(Math.max(...values));
  const head = `${data.names[Math.floor(most / data.heads)]} H${most % data.heads}`;
  const patches = count > 1 ? `${count} of ${visible.length} patches are` : `1 of ${visible.length} patches is`;
  return [
    `${patches} hidden: −∞ is added to their scores in every head of every layer, so no token attends to them.`,
    `In the output, ${data.summary} has a cosine similarity of ${data.similarity.values.at(-1).toFixed(4)} to the run ` +
      `without hiding. Most weight moved in ${head}: on average ${percent(values[most])} of a visible token's row.`,
    ...labelsOf(data),
    "The pixels are unchanged, and a hidden patch still has its own row: it reads the visible tokens in each layer, " +
      "but nothing reads it.",
  ];
}

const labelsOf = ({ labels }) =>
  labels.length ? [`Labels, probability before → after: ${labels.map(inWords).join("; ")}.`] : [];

const inWords = ([name, before, after]) => `“${name}” ${chance(before)} → ${chance(after)}`;

const chance = (share) => share.toFixed(3);

function tableOf(picture) {
  const { data } = picture;
  const [visible, { before, after }] = [paintOf(data.hidden, ...data.grid), weightsOf(picture)];
  return [
    ["token", "row", "column", "hidden", "before", "after"],
    ...data.tokens.map((text, token) => [
      text,
      ...(data.places[token] ?? ["", ""]),
      isHidden(visible, data, data.places[token]) ? 1 : 0,
      before[token],
      after[token],
    ]),
  ];
}

function arrays(picture) {
  const { data } = picture;
  const count = data.tokens.length;
  return {
    before: { values: data.before.values, shape: [count] },
    after: { values: data.after.values, shape: [count] },
    visible: { values: Float32Array.from(paintOf(data.hidden, ...data.grid)), shape: data.grid },
    moved: { values: data.moved.values, shape: [data.layers, data.heads] },
    similarity: { values: data.similarity.values, shape: [data.steps.length] },
    layer_head_token: { values: Float32Array.from([...data.site, data.at]), shape: [3] },
    image: { values: factsOf(picture).colours, shape: [...data.size, 3] },
  };
}

export default drawnPicture({
  size: ({ data }, room) => layoutOf(data, room, tokensIn(data).specials).size,
  draw,
  title: titleOf,
  words: wordsOf,
  rows: tableOf,
  point,
  click,
  drag,
  key: pressed,
  arrays: ["NPZ of both rows", arrays],
});
