// The pen that writes SVG, with the strokes of `canvas_pen.js`.

import { canvasOf, measured } from "./canvas_pen.js";

// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g; // XML has no way to write these
const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(CONTROLS, "\ufffd");
const rounded = (...numbers) => numbers.map((number) => Math.round(number * 100) / 100);

// `content` is markup already: callers escape text.
export function tagged(name, attributes, content = "") {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  return `<${name}${written.join("")}>${content}</${name}>`;
}

export function svgPen(theme) {
  const parts = [];
  const add = (...node) => parts.push(tagged(...node));
  return {
    widthOf: (text, size, weight = 400) => measured(text, size, weight, theme.font),
    text: (text, x, y, style = {}) => add(...textNode(text, [x, y], { colour: theme.ink, ...style })),
    box(x, y, w, h, { fill, stroke, width = 1, radius = 0 }) {
      const paint = { fill: fill ?? "none", stroke: stroke ?? "none", "stroke-width": width, rx: radius };
      add("rect", { ...place(x, y, w, h), ...paint });
    },
    line(x1, y1, x2, y2, { stroke, width = 1 }) {
      const [fromX, fromY, toX, toY] = rounded(x1, y1, x2, y2);
      add("path", { d: `M${fromX} ${fromY}L${toX} ${toY}`, stroke, "stroke-width": width });
    },
    path(points, { stroke, width = 1, dash = [] }) {
      const d = points.map(([x, y], i) => `${i ? "L" : "M"}${rounded(x, y).join(" ")}`).join("");
      const look = { stroke, "stroke-width": width, "stroke-dasharray": dash.join(" ") || "none" };
      add("path", { d, fill: "none", "stroke-linejoin": "round", ...look });
    },
    image(image, x, y, w, h) {
      const look = { preserveAspectRatio: "none", style: "image-rendering:pixelated" };
      add("image", { ...place(x, y, w, h), ...look, href: canvasOf(image).toDataURL() });
    },
    hatch(boxes) {
      const d = boxes.map(([x, y, w, h]) => `M${rounded(x, y)}h${rounded(w)}v${rounded(h)}h${rounded(-w)}z`).join("");
      add("path", { fill: "url(#hatch)", d });
    },
    // `extra` is markup that is drawn on top.
    document: (width, height, extra = "") => svgDocument([...parts, extra], theme, [width, height]),
  };
}

function place(...lengths) {
  const [x, y, width, height] = rounded(...lengths);
  return { x, y, width, height };
}

function textNode(text, at, { size = 12, weight = 400, colour, align = "left", angle = 0, italic = false }) {
  const turn = angle ? ` rotate(${rounded((angle * 180) / Math.PI)})` : "";
  const attributes = {
    transform: `translate(${rounded(...at)})${turn}`,
    "font-size": size,
    "font-weight": weight,
    ...(italic ? { "font-style": "italic" } : {}),
    fill: colour,
    "text-anchor": { left: "start", right: "end", center: "middle" }[align],
    "dominant-baseline": "central",
    "xml:space": "preserve",
  };
  return ["text", attributes, escaped(text)];
}

function svgDocument(parts, theme, [width, height]) {
  const stroke = tagged("path", { d: "M-1 1l2 -2M0 6l6 -6M5 7l2 -2", stroke: theme.hatch });
  const hatch = tagged("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" }, stroke);
  const paper = tagged("rect", { width: "100%", height: "100%", fill: theme.paper });
  const size = { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": `${theme.font}, sans-serif` };
  const content = tagged("defs", {}, hatch) + paper + parts.join("");
  return tagged("svg", { xmlns: "http://www.w3.org/2000/svg", ...size }, content);
}
