// What the script of another package's picture is written with: `import { drawnPicture } from "attnviz";`
// (docs/how-to/a-picture-of-your-own.md).

import { watchKeys } from "./keys.js";
import { kindTabs, paintKindTabs } from "./kind_tabs.js";
import { picturePane } from "./pane.js";
import { choices, paintChoices } from "./parts.js";
import { windowFit } from "./picture.js";
import { tab } from "./tab.js";
import { LACKS } from "../files/parts.js";
import { saveNPZ } from "../files/npz.js";
import { announce } from "../live_region.js";
import { element, put } from "../elements.js";
import { canvasPen, sharpContext } from "../pens/canvas_pen.js";
import { pointIn, tellPainted } from "../resize.js";
import { change } from "../store.js";
import { siteName } from "../text.js";
import { hideTip, placeInWindow, windowTip } from "../tip.js";
import { colourAt, css, scaleOf, stepOf } from "../theme.js";

const LEAST = 430; // pixels of its height
const MOVED = 5; // pixels from which a pressed pointer drags

// Draws a picture from what Python's `payload` returned, which is `data`: plain values as they are, and arrays as
// `{ values, shape }`. Each function is given `{ data, view, theme, colour }`: `view` holds the fields of the state,
// `theme` the colours `ink`, `muted`, `faint`, `line`, `paper` and `accent`, and `colour(share)` is a colour for 0 to 1.
//   draw      `(picture, pen, [width, height])`: draws it with the strokes of kit/js/pens/canvas_pen.js
//   size      `(picture, [width, height])`: the drawing's size, given the room that there is; left out, all of the room
//   rows      `(picture)`: the numbers as a table, the names of its columns first
//   title     `(picture)`; left out, the kind of attention and the head
//   words     `(picture)`: sentences below the drawing, which a screen reader hears after the title
//   point     `(picture, [x, y], size)`: what the pointer says there, a text or null
//   click     `(picture, [x, y], size)`: the fields that a click there changes, or null
//   drag      `(picture, [x, y], [x, y], size)`: the fields that a drag between two places changes, or null
//   key       `(picture, key, event)`: the fields that a key of the keyboard changes, or null
//   atOnce    names of fields for which Python sends more numbers, so that it is told of them at once
//   arrays    `[text, (picture)]`: an entry of the menu that saves, and arrays `{ values, shape }` by name, for NumPy
export function drawnPicture(parts) {
  const sizeOf = (app) => (parts.size ?? ((_, room) => room))(pictureOf(app), roomIn(app));
  const titleOf = (app) => (parts.title ? parts.title(pictureOf(app)) : siteOf(app));
  return tab({
    atOnce: [...LACKS, ...(parts.atOnce ?? [])],
    fit: windowFit(LEAST),
    buildShell: (app) => buildShell(app, parts, sizeOf),
    paint: (app, began) => paint(app, parts, { size: sizeOf(app), title: titleOf(app), began }),
    siteOf: titleOf,
    figure: (app, pen) => parts.draw(pictureOf(app), pen, sizeOf(app)),
    figureSize: sizeOf,
    figureName: (app) => titleOf(app).replace(/[^A-Za-z0-9]+/g, "-"),
    csvRows: (app) => parts.rows(pictureOf(app)),
    moreFiles: parts.arrays && [
      [parts.arrays[0], (app) => saveNPZ(`attnviz-${app.widget.figureName(app)}`, parts.arrays[1](pictureOf(app)))],
    ],
  });
}

const siteOf = ({ payload: { header }, view }) =>
  "layer" in view ? `${header.title}, ${siteName(view.layer, view.head)}` : header.title;

function pictureOf(app) {
  const { payload, theme, view } = app;
  if (app.read?.base !== payload.header.base) app.read = { base: payload.header.base, data: dataIn(payload) };
  const colour = (share) => css(colourAt(scaleOf(app, "sequential"), stepOf(share, 0, 1)));
  return { data: app.read.data, view, theme, colour };
}

function dataIn({ header, array }) {
  const count = (shape) => shape.reduce((product, size) => product * size, 1);
  const arrays = Object.entries(header.arrays).map(([name, { offset, shape, bytes }]) => [
    name,
    { shape, values: array(bytes === 1 ? Uint8Array : Float32Array, offset, count(shape)) },
  ]);
  return { ...header.data, ...Object.fromEntries(arrays) };
}

const roomIn = ({ parts: { body } }) => [Math.max(200, body.clientWidth), Math.max(120, body.clientHeight - 4)];

function buildShell(app, parts, sizeOf) {
  const canvas = element("canvas", { role: "img" });
  const body = element("div", { class: "drawing", tabindex: "0" }, canvas);
  const words = element("footer", { class: "quiet words" });
  Object.assign(app.parts, { canvas, body, words, tools: element("span", { class: "tools" }) });
  const options = { label: "Picture", tools: [app.parts.tools] };
  app.root.replaceChildren(picturePane(app, options, kindTabs(app), body, ...(parts.words ? [words] : [])));
  app.parts.tip = windowTip(app);
  canvas.onpointermove = (event) => point(app, parts, event);
  canvas.onpointerleave = () => hideTip(app.parts.tip);
  canvas.onclick = (event) => choose(app, parts.click?.(pictureOf(app), pointIn(canvas, event), sizeOf(app)));
  if (parts.drag) watchDrags(app, parts, sizeOf);
  watchKeys(app, (_, event) => {
    const patch = parts.key?.(pictureOf(app), event.key, event);
    return patch && (() => choose(app, patch));
  });
}

const choose = (app, patch) => patch && change(app, patch);

// With a mouse or a pen: a finger scrolls. What ends a drag is no click.
function watchDrags(app, parts, sizeOf) {
  const { canvas } = app.parts;
  const click = canvas.onclick;
  let [from, dragged] = [null, false];
  canvas.onpointerdown = (event) => {
    from = event.pointerType === "touch" || event.button ? null : pointIn(canvas, event);
    dragged = false;
    if (from) canvas.setPointerCapture(event.pointerId);
  };
  canvas.addEventListener("pointermove", (event) => {
    const to = pointIn(canvas, event);
    if (!from || (!dragged && Math.hypot(to[0] - from[0], to[1] - from[1]) < MOVED)) return;
    dragged = true;
    choose(app, parts.drag(pictureOf(app), from, to, sizeOf(app)));
  });
  canvas.onpointerup = () => {
    from = null;
  };
  canvas.onclick = (event) => (dragged ? null : click(event));
}

function point(app, parts, event) {
  const said = parts.point?.(pictureOf(app), pointIn(app.parts.canvas, event), app.drawnSize);
  if (!said) return hideTip(app.parts.tip);
  app.parts.tip.replaceChildren(element("div", { text: said }));
  placeInWindow(app.parts.tip, event);
}

function paint(app, parts, { size, title, began }) {
  const { canvas, tabs, tools } = app.parts;
  const { header } = app.payload;
  tabs.hidden = !("kind" in app.view) || header.kinds.length < 2;
  paintKindTabs(app, header.kinds);
  if (!app.groups) tools.append(...Object.keys(header.options).map((name) => choices(app, name)));
  paintChoices(app);
  put(app.parts.title, title);
  parts.draw(pictureOf(app), canvasPen(sharpContext(canvas, size), app.theme), size);
  app.drawnSize = size;
  const words = parts.words?.(pictureOf(app)) ?? [];
  app.parts.words.replaceChildren(...words.map((text) => element("p", { text })));
  canvas.setAttribute("aria-label", [title, ...words].join(". "));
  announce(app, [title, ...words.slice(0, 1)].join(". "));
  tellPainted(app, began);
}
