// Every head as a small square: a click chooses it or lets it go. A row is a layer.

import { ARROWS, range } from "../../../kit/js/cells.js";
import { button, element } from "../../../kit/js/elements.js";
import { change } from "../../../kit/js/store.js";
import { siteName } from "../../../kit/js/text.js";
import { imageOf, scaleOf } from "../../../kit/js/theme.js";
import { hueOf } from "./lines.js";

const LARGEST_SQUARE = 64;

export function paintSquares(app) {
  const { header } = app.payload;
  const box = app.parts.squares.parentElement;
  const room = [app.parts.squares.clientWidth, box.clientHeight];
  const key = [header.base, app.theme.key, room].join("|");
  if (app.squaresKey !== key) {
    app.squaresKey = key;
    buildSquares(app, room);
  }
  const places = new Map(app.view.heads.map(([layer, head], place) => [`${layer}.${head}`, place]));
  for (const [name, node] of app.squares) {
    const place = places.get(name);
    const pressed = String(place !== undefined);
    if (node.getAttribute("aria-pressed") !== pressed) node.setAttribute("aria-pressed", pressed);
    node.style.setProperty("--hue", place === undefined ? "transparent" : hueOf(app, place));
  }
}

// Layers are rows, or columns where the squares are then larger.
function arrangedSquares(app, [width, height]) {
  const [layers, heads] = app.payload.header.shape;
  const isTall = app.root.dataset.size !== "phone";
  const side = (down, across) =>
    Math.min(LARGEST_SQUARE, (width - 30) / across - 3, isTall ? (height - 30) / down - 3 : Infinity);
  const [upright, turned] = [side(layers, heads), side(heads, layers)];
  const isTurned = isTall && turned > upright * 1.15;
  return { isTurned, side: Math.max(11, Math.floor(isTurned ? turned : upright)) };
}

function buildSquares(app, room) {
  const [layers, heads] = app.payload.header.shape;
  const { isTurned, side } = arrangedSquares(app, room);
  app.areSquaresTurned = isTurned;
  const focused = app.root.getRootNode().activeElement?.dataset?.head;
  app.squares = new Map();
  const nodes = range(layers).flatMap((layer) => [
    button(`L${layer}`, {
      class: "link layer",
      title: `Choose or deselect all heads of layer ${layer}`,
      onclick: () => ofLayer(app, layer),
    }),
    ...range(heads).map((head) => squareNode(app, layer, head)),
  ]);
  const { style } = app.parts.squares;
  style.gridAutoFlow = isTurned ? "column" : "row";
  style.gridTemplateColumns = isTurned ? `repeat(${layers}, ${side}px)` : `26px repeat(${heads}, ${side}px)`;
  style.gridTemplateRows = isTurned ? `22px repeat(${heads}, ${side}px)` : "";
  app.parts.squares.style.setProperty("--side", `${side}px`);
  app.parts.squares.replaceChildren(...nodes);
  app.squares.get(focused)?.focus();
}

function squareNode(app, layer, head) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const name = siteName(layer, head);
  const node = element("button", { type: "button", class: "square", title: name, "aria-label": name }, canvas);
  node.dataset.head = `${layer}.${head}`;
  node.tabIndex = layer || head ? -1 : 0;
  node.onclick = () => toggleHead(app, layer, head);
  node.onkeydown = (event) => walkSquares(app, event, layer, head);
  app.squares.set(node.dataset.head, node);
  drawSquare(app, canvas, layer, head);
  return node;
}

function drawSquare(app, canvas, layer, head) {
  const { header, array } = app.payload;
  const { offset, height, width } = header.squares;
  const cells = array(Uint8Array, offset + (layer * header.shape[1] + head) * height * width, height * width);
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d").putImageData(imageOf(cells, [height, width], scaleOf(app, "sequential"), [0, 255]), 0, 0);
}

export function toggleHead(app, layer, head) {
  const others = app.view.heads.filter(([l, h]) => l !== layer || h !== head);
  change(app, { heads: others.length < app.view.heads.length ? others : [...others, [layer, head]] });
}

function ofLayer(app, layer) {
  const [, heads] = app.payload.header.shape;
  const own = app.view.heads.filter(([l]) => l === layer);
  const others = app.view.heads.filter(([l]) => l !== layer);
  change(app, { heads: own.length === heads ? others : [...others, ...range(heads).map((head) => [layer, head])] });
}

function walkSquares(app, event, layer, head) {
  const step = ARROWS[event.key] ?? [];
  const [down, right] = app.areSquaresTurned ? step.toReversed() : step;
  const next = app.squares.get(`${layer + down}.${head + right}`);
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
