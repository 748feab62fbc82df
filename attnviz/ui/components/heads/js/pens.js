// Two pens with the same strokes: one draws on a canvas, one writes SVG. What is drawn is thus said once.

function canvasPen(context, theme) {
  return {
    widthOf: (text, size, weight = 400) => measured(text, size, weight, theme.font),
    text(text, x, y, { size = 12, weight = 400, colour = theme.ink, align = "left", angle = 0 } = {}) {
      context.save();
      context.translate(x, y);
      if (angle) context.rotate(angle);
      context.font = `${weight} ${size}px ${theme.font}`;
      context.fillStyle = colour;
      context.textAlign = align;
      context.textBaseline = "middle";
      context.fillText(text, 0, 0);
      context.restore();
    },
    box(x, y, w, h, { fill = null, stroke = null, width = 1, radius = 0 }) {
      context.beginPath();
      context.roundRect(x, y, w, h, radius);
      if (fill) { context.fillStyle = fill; context.fill(); }
      if (stroke) { context.strokeStyle = stroke; context.lineWidth = width; context.stroke(); }
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

function measured(text, size, weight, font) {
  const key = `${weight} ${size}px ${font}\n${text}`;
  if (widths.size > 5000) widths.clear();
  if (!widths.has(key)) {
    ruler.font = `${weight} ${size}px ${font}`;
    widths.set(key, ruler.measureText(text).width);
  }
  return widths.get(key);
}

const canvases = [];

// A canvas that holds the image; a few are kept and reused, for a new one a frame costs more than the drawing.
function canvasOf(image) {
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
  for (const shift of [-6, 0, 6]) { pen.moveTo(shift, 6); pen.lineTo(shift + 6, 0); }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
const rounded = (...numbers) => numbers.map((number) => Math.round(number * 100) / 100);

function svgPen(theme) {
  const parts = [];
  const add = (part) => parts.push(part);
  return {
    widthOf: (text, size, weight = 400) => measured(text, size, weight, theme.font),
    text(text, x, y, { size = 12, weight = 400, colour = theme.ink, align = "left", angle = 0 } = {}) {
      const anchor = { left: "start", right: "end", center: "middle" }[align];
      const place = `translate(${rounded(x, y)})${angle ? ` rotate(${rounded((angle * 180) / Math.PI)})` : ""}`;
      add(`<text transform="${place}" font-size="${size}" font-weight="${weight}" fill="${colour}" text-anchor="${anchor}" dominant-baseline="central" xml:space="preserve">${escaped(text)}</text>`);
    },
    box(x, y, w, h, { fill = "none", stroke = "none", width = 1, radius = 0 }) {
      const [a, b, c, d] = rounded(x, y, w, h);
      add(`<rect x="${a}" y="${b}" width="${c}" height="${d}" rx="${radius}" fill="${fill ?? "none"}" stroke="${stroke ?? "none"}" stroke-width="${width}"/>`);
    },
    image(image, x, y, w, h) {
      const [a, b, c, d] = rounded(x, y, w, h);
      add(`<image x="${a}" y="${b}" width="${c}" height="${d}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${canvasOf(image).toDataURL()}"/>`);
    },
    hatch: (boxes) => add(`<path fill="url(#hatch)" d="${boxes.map(([x, y, w, h]) => `M${rounded(x, y)}h${rounded(w)}v${rounded(h)}h${rounded(-w)}z`).join("")}"/>`),
    document: (width, height) => svgDocument(parts, theme, [width, height]),
  };
}

function svgDocument(parts, theme, [width, height]) {
  const hatch = `<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-1 1l2 -2M0 6l6 -6M5 7l2 -2" stroke="${theme.hatch}"/></pattern>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(theme.font)}, sans-serif"><defs>${hatch}</defs><rect width="100%" height="100%" fill="${theme.paper}"/>${parts.join("")}</svg>`;
}
