// The drawing as a file, with the caption that every picture has.

import { CAPTIONS, captionHeight, captionRows } from "../../../kit/js/caption.js";
import { element, saveFile } from "../../../kit/js/elements.js";
import { drawing, svg } from "./figure.js";
import { stepInView } from "./story.js";

const SHARPNESS = 2;

export function savePicture(app, format) {
  const { layout, theme, payload } = app;
  const { sentence, model } = payload.header.caption ?? {};
  const step = stepInView(app);
  const rows = captionRows([sentence, step?.text, model].filter(Boolean), layout.width, theme.font);
  const [width, height] = [layout.width, layout.height + captionHeight(rows)];
  const picture = drawing(app, layout, new Set(step?.parts ?? []));
  for (const link of picture.querySelectorAll("a")) link.removeAttribute("href"); // a file lies elsewhere
  picture.setAttribute("height", height);
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.prepend(svg("rect", { width: "100%", height: "100%", fill: theme.paper }));
  picture.append(...rows.map((row, at) => captionNode(theme, row, layout.height + (at + 0.5) * CAPTIONS.line)));
  const blob = new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" });
  if (format === "svg") return saveFile("attnviz-model.svg", [blob], blob.type);
  const image = new Image();
  image.onload = () => {
    const canvas = element("canvas", { width: width * SHARPNESS, height: height * SHARPNESS });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((png) => saveFile("attnviz-model.png", [png], png.type));
  };
  image.src = URL.createObjectURL(blob);
}

function captionNode(theme, text, y) {
  const look = { x: CAPTIONS.margin, y, "font-size": CAPTIONS.size, fill: theme.muted, "dominant-baseline": "central" };
  const node = svg("text", look);
  node.textContent = text;
  return node;
}
