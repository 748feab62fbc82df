// The picture Patches: the image with its grid, the weights of one token on it, every head small beside it.

import { drawnPicture } from "attnviz";
import { drawOverPatches, drawPatchWeights } from "../kit/js/patch_weights.js";
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
} from "../kit/js/seen_image.js";
import { layoutOf } from "./layout.js";
import { bytesOf, chosenOf, mapOf, numbersOf, siteOf, weightsOf } from "./weights.js";
import { cells, wordsOf } from "./words.js";

const CLEAR = [0, 0, 0, 0];
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const known = new WeakMap(); // what was made of a payload's data

function factsOf({ data }) {
  if (!known.has(data)) known.set(data, { ...numbersOf(data), ...tokensIn(data), ...imagesOf(data) });
  return known.get(data);
}

const countOf = ({ data }) => data.tokens.length;

// `weights` is null where the payload has none of the head and token in view.
function sceneOf(picture, size) {
  const facts = factsOf(picture);
  const weights = weightsOf(picture, facts);
  const peak = (weights && Math.max(...weights)) || 1;
  return { ...facts, weights, peak, at: chosenOf(picture), layout: layoutOf(picture.data, size, facts.specials) };
}

function draw(picture, pen, size) {
  const scene = sceneOf(picture, size);
  drawSpecials(picture, pen, scene);
  drawImage(picture, pen, scene);
  drawBars(picture, pen, scene);
  drawHeads(picture, pen, scene);
}

function drawSpecials({ data, theme, colour }, pen, { layout, specials, weights, peak, at }) {
  specials.forEach((token, place) =>
    drawSpecial(pen, layout.specials[place], {
      name: data.tokens[token],
      weight: weights && weights[token],
      fill: weights ? colour(weights[token] / peak) : theme.paper,
      isChosen: token === at,
      theme,
    }),
  );
}

function drawImage(picture, pen, { layout, image, weights, peak, at, tokenOf }) {
  const { data, view, theme } = picture;
  const place = layout.image;
  const { x, y, side } = place;
  drawSeenImage(pen, data, { image, place });
  coloursOf(picture);
  const shares = weights && Array.from(gridTokens(data, tokenOf), (token) => weights[token] / peak);
  if (shares) drawPatchWeights(pen, { place, grid: data.grid }, shares, { look: view.look, steps: coloursOf.steps });
  else drawOverPatches(pen, { place, grid: data.grid }, () => CLEAR);
  const box = cells(view.box, data.grid);
  if (box) {
    const [top, bottom, left, right] = box;
    const corner = [x + left * side[1], y + top * side[0]];
    const size = [(right - left + 1) * side[1], (bottom - top + 1) * side[0]];
    pen.box(...corner, ...size, { stroke: theme.paper, width: 4 });
    pen.box(...corner, ...size, { stroke: theme.ink, width: 2 });
  }
  if (data.places[at]) framePatch(pen, place, data.places[at], theme);
}

function drawBars({ theme }, pen, { layout, weights, peak, at }) {
  const { x, y, w, h } = layout.bars;
  pen.line(x, y + h, x + w, y + h, { stroke: theme.line });
  if (!weights) return;
  const wide = w / weights.length;
  weights.forEach((weight, token) => {
    const high = (weight / peak) * (h - 16);
    const fill = token === at ? theme.accent : theme.muted;
    pen.box(x + token * wide, y + h - high, Math.max(0.5, wide - (wide > 4 ? 1 : 0)), high, { fill });
  });
  pen.text(`largest ${peak.toFixed(4)}`, x + w, y + 6, { align: "right", size: 11, colour: theme.muted });
}

// Every head from, or to, the token that Python was asked for; each is scaled to its own largest weight.
function drawHeads(picture, pen, { layout, grey, tokenOf }) {
  const { data, view, theme } = picture;
  const isTo = view.towards === "to";
  const peaks = isTo ? data.column_peaks : data.row_peaks;
  const [openLayer, openHead, mix] = siteOf(picture);
  const { heads: places, title } = layout;
  const named = labelOf(data, data.at);
  pen.text(isTo ? `Who looks at ${named}, every head` : `Where ${named} looks, every head`, ...title, {
    size: 11.5,
    weight: 600,
  });
  const { image, x: left, y: top, w: wide, h: high } = headsImage(picture, { layout, peaks, grey, tokenOf });
  pen.image(image, left, top, wide, high);
  places.forEach(({ x, y, w, h }, number) => {
    const isOpen = mix === "head" && number === openLayer * data.heads + openHead;
    pen.box(x, y, w, h, { stroke: isOpen ? theme.accent : theme.line, width: isOpen ? 3 : 1 });
    if (w > 60) {
      pen.box(x + w - 27, y + h - 14, 26, 13, { fill: "#000a" }); // the number stays readable on every colour
      pen.text(`${peaks.values[number].toFixed(2)}`, x + w - 3, y + h - 8, {
        align: "right",
        size: 10,
        colour: "#fff",
      });
    }
  });
  for (const { text, at, align } of layout.labels(data.names))
    pen.text(text, ...at, { align, size: 10.5, colour: theme.muted });
}

// All small pictures as one image, as sharp as the page: it is kept until the numbers, the colours or the place change.
function headsImage(picture, { layout, peaks, grey, tokenOf }) {
  const { data, view, theme } = picture;
  const { x, y, w, h } = layout.heads[0];
  const last = layout.heads.at(-1);
  const size = [last.y + last.h - y, last.x + last.w - x].map(Math.ceil);
  const key = [view.towards, theme.key, ...size].join();
  const facts = factsOf(picture);
  if (facts.heads?.key !== key) {
    const tokens = gridTokens(data, tokenOf);
    const bytes = bytesOf(view.towards === "to" ? facts.columns : facts.rows, peaks.values);
    const pixels = coloursOf(picture);
    const image = new ImageData(size[1], size[0]);
    const whole = new Uint32Array(image.data.buffer);
    layout.heads.forEach((place, number) => {
      const shares = bytes.subarray(number * data.tokens.length, (number + 1) * data.tokens.length);
      const corner = [Math.round(place.y - y), Math.round(place.x - x)];
      paintHead(
        whole,
        size,
        { corner, side: [h, w].map(Math.floor), grid: data.grid },
        { shares, tokens, grey, pixels },
      );
    });
    facts.heads = { key, image };
  }
  return { image: facts.heads.image, x, y, w: size[1], h: size[0] };
}

function paintHead(whole, size, { corner, side, grid }, { shares, tokens, grey, pixels }) {
  for (let row = 0; row < side[0]; row++) {
    const first = Math.floor((row * grid[0]) / side[0]) * grid[1];
    const line = (corner[0] + row) * size[1] + corner[1];
    for (let column = 0; column < side[1]; column++) {
      const cell = first + Math.floor((column * grid[1]) / side[1]);
      whole[line + column] = pixels[shares[tokens[cell]] * 4 + (grey[cell] >> 6)];
    }
  }
}

const gridTokens = ({ grid: [rows, columns] }, tokenOf) =>
  Uint32Array.from({ length: rows * columns }, (_, cell) =>
    tokenOf.get(`${Math.floor(cell / columns)},${cell % columns}`),
  );

// Colours of the 256 steps of a weight, each on four steps of a patch's brightness, as 32-bit pixels.
function coloursOf({ colour, theme }) {
  if (coloursOf.key !== theme.key) {
    const steps = Array.from({ length: 256 }, (_, step) =>
      colour(step / 255)
        .match(/\d+/g)
        .map(Number),
    );
    coloursOf.pixels = Uint32Array.from({ length: 1024 }, (_, at) => {
      const share = (at >> 2) / 255;
      const [r, g, b] = steps[at >> 2].map((part) => 0.75 * part + 0.25 * (64 * (at & 3) + 32) * share);
      return (255 << 24) | (b << 16) | (g << 8) | r;
    });
    coloursOf.steps = steps;
    coloursOf.key = theme.key;
  }
  return coloursOf.pixels;
}

function targetAt(picture, place, size) {
  const { layout, specials, tokenOf } = sceneOf(picture, size);
  const inside = ([x, y, w, h]) => place[0] >= x && place[0] < x + w && place[1] >= y && place[1] < y + h;
  const special = layout.specials.findIndex(inside);
  if (special >= 0) return { token: specials[special] };
  const patch = patchAt(layout.image, layout.grid, place);
  if (patch) return { token: tokenOf.get(patch.join()), patch };
  const { x, y, w, h } = layout.bars;
  if (inside([x, y, w, h])) return { token: Math.floor(((place[0] - x) / w) * countOf(picture)) };
  const head = layout.heads.findIndex((one) => inside([one.x, one.y, one.w, one.h]));
  return head >= 0 ? { head: [Math.floor(head / picture.data.heads), head % picture.data.heads], number: head } : null;
}

function point(picture, place, size) {
  const target = targetAt(picture, place, size);
  if (!target) return null;
  const { data, view } = picture;
  if (target.head) {
    const peaks = view.towards === "to" ? data.column_peaks : data.row_peaks;
    return `${data.names[target.head[0]]} H${target.head[1]}, largest weight ${peaks.values[target.number].toFixed(4)}`;
  }
  const weights = weightsOf(picture, factsOf(picture));
  const exact = weights && `: ${weights[target.token].toPrecision(5)}`;
  return `${spokenOf(data, target.token)}${exact ?? ""}`;
}

function click(picture, place, size) {
  const target = targetAt(picture, place, size);
  if (!target) return null;
  if (target.head) return { layer: target.head[0], head: target.head[1], mix: "head" };
  return { at: target.token };
}

function drag(picture, from, to, size) {
  const { layout } = sceneOf(picture, size);
  const [one, other] = [patchAt(layout.image, layout.grid, from), patchAt(layout.image, layout.grid, to, true)];
  return one && other ? { box: rectangle(one, other) } : null;
}

const rectangle = (one, other) =>
  [0, 1].flatMap((axis) => [Math.min(one[axis], other[axis]), Math.max(one[axis], other[axis])]).join(".");

// Arrows move over the grid, and above its first row over the special tokens; with Shift they stretch a rectangle.
function pressed(picture, name, { shiftKey } = {}) {
  const { data, view } = picture;
  if (name === "Escape") return view.box ? { box: "" } : null;
  if (name === "t") return { towards: view.towards === "to" ? "from" : "to" };
  if (name === "[" || name === "]") return nextHead(picture, name === "]" ? 1 : -1);
  if (!(name in STEPS)) return null;
  if (shiftKey) return stretch(picture, STEPS[name]);
  const at = movedTo(data, factsOf(picture), chosenOf(picture), STEPS[name]);
  return at === chosenOf(picture) ? {} : { at };
}

function nextHead(picture, by) {
  const [{ data }, [layer, head]] = [picture, siteOf(picture)];
  const count = data.layers * data.heads;
  const next = (layer * data.heads + head + by + count) % count;
  return { layer: Math.floor(next / data.heads), head: next % data.heads, mix: "head" };
}

function stretch(picture, [down, right]) {
  const { data, view } = picture;
  const place = data.places[chosenOf(picture)] ?? [0, 0];
  const [top, bottom, left, end] = cells(view.box, data.grid) ?? [place[0], place[0], place[1], place[1]];
  const within = (value, count) => Math.max(0, Math.min(count - 1, value));
  const next = [Math.max(top, within(bottom + down, data.grid[0])), Math.max(left, within(end + right, data.grid[1]))];
  return { box: [top, next[0], left, next[1]].join(".") };
}

function titleOf(picture) {
  const [{ data, view }, [layer, head, mix]] = [picture, siteOf(picture)];
  const name = data.names[layer];
  const shown = { head: `${name} H${head}`, mean: `${name}, mean of heads`, rollout: `Rollout up to ${name}` }[mix];
  return `${shown}, ${view.towards === "to" ? "to" : "from"} ${labelOf(data, chosenOf(picture))}`;
}

function tableOf(picture) {
  const { data } = picture;
  const [from, to] = ["from", "to"].map((towards) => weightsOf(picture, factsOf(picture), towards));
  const name = data.tokens[chosenOf(picture)];
  return [
    ["token", "row", "column", `from ${name}`, `to ${name}`],
    ...data.tokens.map((text, token) => [
      text,
      ...(data.places[token] ?? ["", ""]),
      from ? from[token] : "",
      to ? to[token] : "",
    ]),
  ];
}

function arrays(picture) {
  const { data } = picture;
  const facts = factsOf(picture);
  const [count, map, weights] = [countOf(picture), mapOf(picture, facts), weightsOf(picture, facts)];
  const [layer, head] = siteOf(picture);
  return {
    ...(map && { attn: { values: map, shape: [count, count] } }),
    ...(weights && { weights: { values: weights, shape: [count] } }),
    places: { values: Float32Array.from(data.places.flatMap((place) => place ?? [-1, -1])), shape: [count, 2] },
    layer_head_token: { values: Float32Array.from([layer, head, chosenOf(picture)]), shape: [3] },
    image: { values: facts.colours, shape: [...data.size, 3] },
  };
}

export default drawnPicture({
  atOnce: ["layer", "head", "mix"],
  size: ({ data }, room) => layoutOf(data, room, []).size,
  draw,
  title: titleOf,
  words: (picture) => wordsOf(picture, factsOf(picture)),
  rows: tableOf,
  point,
  click,
  drag,
  key: pressed,
  arrays: ["NPZ of the map", arrays],
});
