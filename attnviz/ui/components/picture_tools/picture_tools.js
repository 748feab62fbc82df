// Saves a figure that Plotly has drawn: its layers are SVG in this page, so that one file of them needs no library.

const SVG = "http://www.w3.org/2000/svg";
const LINE = 22; // pixels that a caption takes below the picture
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
  const { width, height: drawn } = plot.getBoundingClientRect();
  const height = drawn + (caption ? LINE : 0);
  const picture = documentOf(plot, width, height);
  if (caption) picture.append(lineBelow(plot, caption, width, drawn));
  const blob = new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" });
  if (format === "svg") return download(blob, file);
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = width * SHARPNESS;
    canvas.height = height * SHARPNESS;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((png) => download(png, file));
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

// What the picture is of, in the letters and the colour of its title; a line that is too long is drawn narrower.
function lineBelow(plot, caption, width, top) {
  const title = plot.querySelector(".gtitle") ?? plot;
  const line = document.createElementNS(SVG, "text");
  line.textContent = caption;
  line.setAttribute("x", 12);
  line.setAttribute("y", top + 14);
  line.setAttribute("class", "caption");
  line.style.cssText = `font: 11px ${getComputedStyle(plot.querySelector("text") ?? plot).fontFamily}`;
  line.style.fill = getComputedStyle(title).fill;
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = line.style.font;
  if (pen.measureText(caption).width > width - 24) {
    line.setAttribute("textLength", width - 24);
    line.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  return line;
}

function download(blob, file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
