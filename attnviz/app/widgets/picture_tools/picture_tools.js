// Saves a figure that Plotly has drawn: its layers are SVG in this page, so that one file of them needs no library.

import { CAPTIONS, captionHeight, captionRows } from "../../../kit/js/caption.js";
import { saveFile } from "../../../kit/js/elements.js";

const SVG = "http://www.w3.org/2000/svg";
const SHARPNESS = 2; // pixels of a PNG for each one on the screen

export default function ({ parentElement, data }) {
  const said = parentElement.querySelector("[role=status]");
  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = () => {
      const plot = document.querySelector(`.st-key-${CSS.escape(data.chart)} .js-plotly-plot`);
      said.textContent = plot ? "" : "The figure is still being drawn.";
      if (plot) save(plot, button.dataset.format, data);
    };
  }
}

function save(plot, format, { name, caption }) {
  const file = `${name}.${format}`;
  const box = plot.getBoundingClientRect();
  const font = getComputedStyle(plot).fontFamily;
  const rows = captionRows(caption, box.width, font);
  const [width, height] = [box.width, box.height + captionHeight(rows)];
  const picture = documentOf(plot, width, height);
  picture.append(...rows.map((row, at) => captionNode(plot, row, box.height + (at + 0.5) * CAPTIONS.line, font)));
  const blob = new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" });
  if (format === "svg") return saveFile(file, [blob], blob.type);
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = width * SHARPNESS;
    canvas.height = height * SHARPNESS;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((png) => saveFile(file, [png], png.type));
  };
  image.src = URL.createObjectURL(blob);
}

function documentOf(plot, width, height) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  const layers = [...plot.querySelectorAll("svg.main-svg")];
  const paper = document.createElementNS(SVG, "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", layers[0].style.background || layers[0].style.backgroundColor || "none");
  picture.append(paper, ...layers.map((layer) => layer.cloneNode(true)));
  for (const passing of picture.querySelectorAll(".hoverlayer, .dragcover, .draglayer")) passing.remove();
  return picture;
}

function captionNode(plot, row, y, font) {
  const node = document.createElementNS(SVG, "text");
  node.textContent = row;
  const look = {
    x: CAPTIONS.margin,
    y,
    "font-size": CAPTIONS.size,
    "font-family": font,
    "dominant-baseline": "central",
  };
  for (const [name, value] of Object.entries(look)) node.setAttribute(name, value);
  node.setAttribute("fill", getComputedStyle(plot).color);
  return node;
}
