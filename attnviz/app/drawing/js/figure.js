// The drawing as SVG elements, each with its own colours, so that a file of it needs no style sheet.

import { css, mix } from "../../../kit/js/theme.js";
import { addressOf, asked, ofHead, ofMask, ofPart } from "./places.js";

const SVG = "http://www.w3.org/2000/svg";
const ROUND = new Set(["tokens", "end", "hidden"]);

export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== undefined && value !== false) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

// `layout` is that of layout.js, `lit` the ids of parts that the step in view is about.
export function drawing(app, layout, lit) {
  const { theme, payload } = app;
  const look = { "font-family": theme.font, width: layout.width, height: layout.height };
  const head = svg("marker", {
    id: "arrow",
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerWidth: 7,
    markerHeight: 7,
    orient: "auto",
  });
  head.append(svg("path", { d: "M0 0L8 4L0 8z", fill: theme.muted }));
  return svg(
    "svg",
    { viewBox: `0 0 ${layout.width} ${layout.height}`, role: "group", "aria-label": saidOf(payload.header), ...look },
    svg("defs", {}, head),
    ...layout.frames.map((frame) => frameNode(theme, frame)),
    ...layout.wires.map((wire) => wireNode(theme, wire, lit)),
    ...layout.parts.map((part) => partNode(app, part, lit)),
  );
}

export function saidOf({ built, names }) {
  const stacks = built.stacks.map(({ stack, layers }) => `${stack} of ${layers.length} layers`);
  const kinds = Object.entries(built.kinds).map(([kind, { heads }]) => `${names[kind]} with ${heads} heads`);
  return `The model: ${[...stacks, ...kinds].join(", ")}. Read from the input upward.`;
}

function frameNode(theme, { x, y, w, h, line }) {
  const box = svg("rect", {
    x,
    y,
    width: w,
    height: h,
    rx: 10,
    fill: "none",
    stroke: theme.faint,
    "stroke-dasharray": "4 3",
  });
  return svg("g", {}, box, textNode(line, theme.muted));
}

function wireNode(theme, { points, isArrow, isResidual, id }, lit) {
  const d = points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const isLit = lit.has(id);
  return svg("path", {
    d,
    fill: "none",
    class: isLit ? "flows" : null,
    stroke: isLit ? theme.accent : isResidual ? theme.faint : theme.muted,
    "stroke-width": isLit ? 2.4 : 1.2,
    "stroke-linejoin": "round",
    "marker-end": isArrow ? "url(#arrow)" : null,
  });
}

const textNode = ({ text, size, weight, x, y, align }, fill) => {
  const node = svg("text", {
    x,
    y,
    fill,
    "font-size": size,
    "font-weight": weight,
    "text-anchor": align === "middle" ? "middle" : "start",
    "dominant-baseline": "central",
  });
  node.textContent = text;
  return node;
};

function partNode(app, part, lit) {
  const { theme } = app;
  if (part.type === "add") return addNode(theme, part);
  const isLit = lit.has(part.id);
  const children = [
    boxNode(theme, part, isLit),
    ...part.lines.map((line) => textNode(line, line.isQuiet ? theme.muted : theme.ink)),
  ];
  const name = [part.title, part.size, part.isHere ? "you are here" : ""].filter(Boolean).join(", ");
  const main = svg("g", { "data-part": part.id, class: isLit ? "part lit" : "part" });
  main.append(leading(app, ofPart(part, app.payload.header.run), name, children, part));
  if (part.chip) main.append(leading(app, ofMask(part), "Its mask", [chipNode(theme, part.chip)], {}));
  for (const cell of part.cells) main.append(headNode(app, part, cell));
  if (part.isHere) main.append(hereNode(theme, part));
  return main;
}

// A link where a page shows the part, a button where it opens, else what it is.
function leading(app, place, name, children, part) {
  if (part.type === "fold") {
    const isOpen = app.view.opened.includes(part.name);
    const node = svg("g", {
      role: "button",
      tabindex: 0,
      "aria-expanded": isOpen,
      "aria-label": name,
      "data-fold": part.name,
    });
    node.append(...children);
    return node;
  }
  const found = asked(place, app.payload.header.places);
  if (!found) return svg("g", { role: "img", "aria-label": name }, ...children);
  const title = svg("title");
  title.textContent = `${name}: open it on ${found.page}`;
  const link = svg(
    "a",
    { href: addressOf(found), "aria-label": `${name}: ${found.page}`, target: "_self" },
    title,
    ...children,
  );
  link.place = found;
  return link;
}

function boxNode(theme, { x, y, w, h, type, isHere }, isLit) {
  const tint = (part) => css(mix(theme.accentRGB, theme.paperRGB, part));
  const fill = isLit
    ? tint(0.2)
    : type === "attention"
      ? tint(0.1)
      : type === "norm"
        ? css(mix(theme.inkRGB, theme.paperRGB, 0.05))
        : theme.paper;
  return svg("rect", {
    x,
    y,
    width: w,
    height: h,
    rx: ROUND.has(type) ? h / 2 : 6,
    fill,
    stroke: isLit || isHere ? theme.accent : theme.faint,
    "stroke-width": isLit || isHere ? 2 : 1,
    "stroke-dasharray": type === "beside" ? "5 3" : null,
  });
}

function addNode(theme, { x, y, w }) {
  const r = w / 2;
  const [middleX, middleY] = [x + r, y + r];
  const circle = svg("circle", { cx: middleX, cy: middleY, r, fill: theme.paper, stroke: theme.muted });
  const d = `M${middleX - 4} ${middleY}h8M${middleX} ${middleY - 4}v8`;
  return svg(
    "g",
    { role: "img", "aria-label": "Add" },
    circle,
    svg("path", { d, stroke: theme.ink, "stroke-width": 1.2 }),
  );
}

function headNode(app, part, { head, x, y, w, h }) {
  const { theme } = app;
  const isHere = part.head === head;
  const rect = svg("rect", {
    x,
    y,
    width: w,
    height: h,
    rx: 2.5,
    fill: isHere ? theme.accent : css(mix(theme.accentRGB, theme.paperRGB, 0.42)),
    "data-head": head,
  });
  const name = `Head ${head}${isHere ? ", you are here" : ""}`;
  return leading(app, ofHead(part, head), name, [rect], {});
}

function chipNode(theme, { x, y, w, h }) {
  const box = svg("rect", { x, y, width: w, height: h, rx: 7, fill: theme.paper, stroke: theme.faint });
  const line = { text: "mask", size: 10, weight: 400, x: x + w / 2, y: y + h / 2, align: "middle" };
  return svg("g", {}, box, textNode(line, theme.muted));
}

// A flag on the upper edge of the block that the page looks at.
function hereNode(theme, { x, y, w }) {
  const [width, height] = [76, 12];
  const [left, top] = [x + w - width - 6, y - height + 2];
  const flag = svg("rect", { x: left, y: top, width, height, rx: height / 2, fill: theme.accent });
  const line = {
    text: "you are here",
    size: 9.5,
    weight: 600,
    x: left + width / 2,
    y: top + height / 2,
    align: "middle",
  };
  return svg("g", { "aria-hidden": "true", class: "here" }, flag, textNode(line, theme.paper));
}
