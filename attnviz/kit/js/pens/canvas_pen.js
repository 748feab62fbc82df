// The pen that draws on a canvas. `svg_pen.js` has the same strokes for files, so that one function draws both.

import { pooledByMax } from "../cells.js";
import { sharpness } from "../resize.js";
import { imageOf } from "../theme.js";

export function canvasPen(context, theme) {
  return {
    widthOf: (text, size, weight = 400) => measured(text, size, weight, theme.font),
    text(text, x, y, { size = 12, weight = 400, colour = theme.ink, align = "left", angle = 0, italic = false } = {}) {
      context.save();
      context.translate(x, y);
      if (angle) context.rotate(angle);
      context.font = `${italic ? "italic " : ""}${weight} ${size}px ${theme.font}`;
      context.fillStyle = colour;
      context.textAlign = align;
      context.textBaseline = "middle";
      context.fillText(text, 0, 0);
      context.restore();
    },
    box(x, y, w, h, { fill = null, stroke = null, width = 1, radius = 0 }) {
      context.beginPath();
      context.roundRect(x, y, w, h, radius);
      if (fill) {
        context.fillStyle = fill;
        context.fill();
      }
      if (stroke) {
        context.strokeStyle = stroke;
        context.lineWidth = width;
        context.stroke();
      }
    },
    line(x1, y1, x2, y2, { stroke, width = 1 }) {
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.stroke();
    },
    // Through all points; `dash` as long as its pieces are.
    path(points, { stroke, width = 1, dash = [] }) {
      context.beginPath();
      for (const [x, y] of points) context.lineTo(x, y);
      context.setLineDash(dash);
      context.lineJoin = "round";
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.stroke();
      context.setLineDash([]);
    },
    image(image, x, y, w, h) {
      context.imageSmoothingEnabled = false;
      context.drawImage(canvasOf(image), x, y, w, h);
    },
    hatch(boxes) {
      context.fillStyle = hatching(context, theme);
      context.beginPath();
      for (const [x, y, w, h] of boxes) context.rect(x, y, w, h);
      context.fill();
    },
  };
}

const widths = new Map();
const ruler = document.createElement("canvas").getContext("2d");

export function measured(text, size, weight, font) {
  const key = `${weight} ${size}px ${font}\n${text}`;
  if (widths.size > 5000) widths.clear();
  if (!widths.has(key)) {
    ruler.font = `${weight} ${size}px ${font}`;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

// As much of a text as fits, whole signs only: half an emoji would be another one.
export function shortened(pen, text, width, { size = 12, weight = 400 } = {}) {
  if (pen.widthOf(text, size, weight) <= width) return text;
  const signs = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  while (signs.length > 1 && pen.widthOf(signs.join("") + "…", size, weight) > width) signs.pop();
  return signs.join("") + "…";
}

// A cleared canvas of that many CSS pixels, as sharp as the screen is.
export function sharpContext(canvas, [width, height]) {
  const ratio = sharpness();
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// A head's map as a thumbnail. `cells` are 0 to 255, `size` the height and width on the page: a map that is drawn smaller
// than its cells are is pooled.
export function paintThumb(canvas, cells, [nRows, nCols], { size, scale }) {
  const pixels = size.map((side) => Math.floor(side * sharpness()));
  const { data, rows, cols } = pooledByMax(cells, [nRows, nCols], pixels);
  if (canvas.width !== cols) canvas.width = cols;
  if (canvas.height !== rows) canvas.height = rows;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.putImageData(imageOf(data, [rows, cols], scale, [0, 255]), 0, 0);
}

const canvases = [];

// A canvas that holds the image; a few are kept and reused, for a new one a frame costs more than the drawing.
export function canvasOf(image) {
  const canvas = canvases.length < 6 ? document.createElement("canvas") : canvases.shift();
  canvases.push(canvas);
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

function hatching(context, theme) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.strokeStyle = theme.hatch;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}
