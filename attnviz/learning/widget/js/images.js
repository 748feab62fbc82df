// What differs for a toy that reads images: its maps show where [CLS] looks on the image, it has an accuracy and no prefixes,
// and what it confuses is a table (attnviz/learning/widget/payload.py packs it).

import { range } from "../../../kit/js/cells.js";
import { termNode } from "../../../kit/js/definitions.js";
import { element } from "../../../kit/js/elements.js";
import { drawPatchWeights } from "../../../kit/js/patch_weights.js";
import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { colourAt, css, scaleOf } from "../../../kit/js/theme.js";

const THUMB = 34; // pixels of a watched image
const CLASSES = 10;
const NAMED = 34; // pixels of a patch from which its weight is written on it
const images = new WeakMap(); // watched images, by the facts about their run

export const isImages = (run) => Boolean(run.about?.image);

// The watched images as pixels: ink is dark.
function imagesOf({ about }) {
  if (!images.has(about)) {
    const { size, ink } = about.image;
    const drawn = about.lines.map(({ src }) => {
      const image = new ImageData(size[1], size[0]);
      src.forEach((word, at) => {
        const grey = 255 - Math.round((Number(word) * 255) / ink);
        image.data.set([grey, grey, grey, 255], 4 * at);
      });
      return image;
    });
    images.set(about, drawn);
  }
  return images.get(about);
}

// The place of the first watched image in a box, each of whose patches is as large as the box allows.
export function placeOf({ about: { image } }, [x, y, w, h]) {
  const scale = Math.min(w / image.size[1], h / image.size[0]);
  return { x, y, side: image.patch.map((pixels) => pixels * scale), scale };
}

// The row of [CLS], which is the first token, over the patches of the first watched image.
export function drawOnImage(pen, run, cells, box) {
  const { image } = run.about;
  const place = placeOf(run, box);
  const [rows, columns] = image.grid;
  const weights = cells.subarray(0, 1 + rows * columns);
  const peak = Math.max(...weights) || 1;
  const shares = Array.from(weights.subarray(1), (weight) => weight / peak);
  pen.image(imagesOf(run)[0], place.x, place.y, image.size[1] * place.scale, image.size[0] * place.scale);
  const width = Math.min(1, place.side[1] / 40);
  drawPatchWeights(pen, { place, grid: image.grid }, shares, { width: Math.max(0.5, width) });
  return { place, weights };
}

export function paintOnImage(app, run, canvas, { cells, size: [height, width] }) {
  const pen = canvasPen(sharpContext(canvas, [width, height]), app.theme);
  return drawOnImage(pen, run, cells, [0, 0, width, height]);
}

// Large, with each weight on its patch.
export function drawLargeImage(app, pen, run, { cells, size: [width, height] }) {
  const side = Math.min(width - 8, height - 26);
  const { place, weights } = drawOnImage(pen, run, cells, [4, 22, side, side]);
  const quiet = { size: 11.5, colour: app.theme.muted };
  pen.text(`[CLS] looks at itself with ${(weights[0] / 255).toFixed(2)}, and at the patches with`, 4, 10, quiet);
  const [, columns] = run.about.image.grid;
  const [high, wide] = place.side;
  if (high < NAMED) return place;
  weights.subarray(1).forEach((weight, cell) => {
    const [x, y] = [place.x + (cell % columns) * wide, place.y + Math.floor(cell / columns) * high];
    pen.box(x + wide / 2 - 16, y + high - 19, 32, 15, { fill: "rgba(0,0,0,0.6)", radius: 3 });
    pen.text((weight / 255).toFixed(2), x + wide / 2, y + high - 11, { size: 11, colour: "#fff", align: "center" });
  });
  return place;
}

// The token under a pointer: 1 and more for a patch, null beside the image.
export function tokenAt({ about: { image } }, { x, y, side }, [left, top]) {
  const [row, column] = [Math.floor((top - y) / side[0]), Math.floor((left - x) / side[1])];
  const isIn = row >= 0 && row < image.grid[0] && column >= 0 && column < image.grid[1];
  return isIn ? 1 + row * image.grid[1] + column : null;
}

const percent = (share) => `${(100 * share).toFixed(1)}%`;

export function accuracyMeter(app, { run, at }, colour) {
  const { own, loss } = run.moments[at];
  const item = (...nodes) => element("span", {}, ...nodes);
  return [
    item(
      element("i", { class: "swatch", style: `border-color:${colour}` }),
      termNode("accuracy"),
      element("b", { text: ` ${percent(own)}` }),
    ),
    item(termNode("loss", "training loss"), element("b", { text: ` ${loss === null ? "–" : loss.toFixed(4)}` })),
  ];
}

export const accuracyText = (run, at) =>
  `After ${run.moments[at].step} updates: ${percent(run.moments[at].own)} of ${run.about.held_out} held-out images are read right. ${confusedText(run, at)}`;

export const imagesTitle = () => ["What it reads now · ", termNode("held-out"), " images · ", termNode("confusion")];

// The pairs of digits that are confused most: [right, read, count], the most frequent first.
export function confused(run, at) {
  const counts = run.moments[at].confusion;
  return range(CLASSES * CLASSES)
    .map((cell) => [Math.floor(cell / CLASSES), cell % CLASSES, counts[cell]])
    .filter(([right, read, count]) => right !== read && count)
    .sort((one, other) => other[2] - one[2]);
}

export function confusedText(run, at) {
  const found = confused(run, at);
  if (!found.length) return "It confuses none.";
  const wrong = found.reduce((sum, [, , count]) => sum + count, 0);
  const named = found.slice(0, 3).map(([right, read, count]) => `${right} as ${read} (${count})`);
  return `It misreads ${wrong} of ${run.about.held_out}, most often ${named.join(", ")}.`;
}

export function paintImages(app, pane) {
  const { run, at, parts } = pane;
  const key = `${run.key} ${at} ${app.theme.key}`;
  if (pane.linesKey === key) return;
  pane.linesKey = key;
  const said = run.moments[at].said;
  const watched = run.about.lines.map((line, i) => imageNode(imagesOf(run)[i], line.tgt[0], said[i][0] ?? ""));
  parts.lines.replaceChildren(
    element("li", { class: "read" }, ...watched),
    element("li", { class: "confused" }, tableNode(app, run, at), element("p", { text: confusedText(run, at) })),
  );
}

function imageNode(image, right, read) {
  const canvas = element("canvas", {
    "aria-hidden": "true",
    width: String(image.width),
    height: String(image.height),
    style: `width:${THUMB}px;height:${THUMB}px`,
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  const isRight = right === read;
  const verdict = isRight ? `a ${right}, read right` : `a ${right}, read as ${read}`;
  return element(
    "span",
    { class: "digit", role: "img", "aria-label": verdict, title: verdict },
    canvas,
    element("span", { class: isRight ? "tick" : "tick wrong", text: isRight ? `✓ ${read}` : `✗ ${read}` }),
  );
}

// Rows are the right digits and columns what was read; a deeper colour is more images.
function tableNode(app, run, at) {
  const counts = run.moments[at].confusion;
  const scale = scaleOf(app, "sequential");
  const digits = range(CLASSES);
  const cell = (right, read) => {
    const count = counts[right * CLASSES + read];
    const most = Math.max(...counts.subarray(right * CLASSES, (right + 1) * CLASSES));
    const share = right === read ? 0 : Math.min(1, (2 * count) / (most || 1));
    const node = element("td", { text: count ? String(count) : "", title: `${count} of ${right} read as ${read}` });
    if (right === read) node.className = "right";
    else if (count) {
      const colour = colourAt(scale, Math.round(255 * (0.15 + 0.45 * share)));
      node.style.background = css(colour);
      node.style.color = colour[0] + colour[1] + colour[2] > 380 ? "#111" : "#fff";
    }
    return node;
  };
  const head = (text) => element("th", { scope: "col", text });
  return element(
    "table",
    { class: "confusion", "aria-label": "Confusion: rows are the right digits, columns what is read" },
    element("tr", {}, head("is \\ read"), ...digits.map((read) => head(String(read)))),
    ...digits.map((right) =>
      element(
        "tr",
        {},
        element("th", { scope: "row", text: String(right) }),
        ...digits.map((read) => cell(right, read)),
      ),
    ),
  );
}

export const readLines = (run, at) => [
  run.about.lines.map(({ tgt }, i) => `${tgt[0]} → ${run.moments[at].said[i][0] ?? ""}`).join(", "),
  confusedText(run, at),
];
