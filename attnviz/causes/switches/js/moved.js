// Every head's map in the run as it is now, tinted by how far it moved.

import { range } from "../../../kit/js/cells.js";
import { termNode } from "../../../kit/js/definitions.js";
import { element } from "../../../kit/js/elements.js";
import { paintThumb } from "../../../kit/js/pens/canvas_pen.js";
import { css, mix, scaleOf } from "../../../kit/js/theme.js";
import { isOff, headName } from "./choice.js";

export const FULL_BITS = 0.25; // where the tint is full

export const movedTint = (theme, bits) =>
  css(mix(theme.accentRGB, theme.paperRGB, bits ? 0.08 + 0.72 * Math.min(1, Math.sqrt(bits / FULL_BITS)) : 0));

export const mapOf = ({ payload }, group, at) => {
  const { offset, height, width } = group.maps;
  return payload.array(Uint8Array, offset + at * height * width, height * width);
};

export function paintMoved(app) {
  const { header } = app.payload;
  const side = sideOf(app);
  const key = [header.base, app.theme.key, side].join("|");
  if (app.movedKey !== key) {
    app.movedKey = key;
    app.parts.maps.replaceChildren(...header.groups.map((group) => groupNode(app, group, side)));
  }
  app.parts.movedTitle.replaceChildren(
    termNode("Where heads look now"),
    element("span", {
      class: "quiet",
      text: ` tinted by how far each moved (full colour from ${FULL_BITS} bits). ${movedCount(header)}`,
    }),
  );
}

function movedCount({ groups }) {
  const all = groups.flatMap(({ moved }) => moved);
  const count = all.filter((bits) => bits === null || bits > 0).length;
  return `${count} of ${all.length} moved.`;
}

function sideOf(app) {
  const { groups } = app.payload.header;
  const across = groups.reduce((sum, { heads }) => sum + heads, 0);
  const width = app.isPhone ? Math.max(...groups.map(({ heads }) => heads)) : across + groups.length;
  return Math.max(16, Math.min(44, Math.floor((app.root.clientWidth - 40) / width) - 5));
}

function groupNode(app, group, side) {
  const cell = (layer, head) => {
    const at = layer * group.heads + head;
    const bits = group.moved[at];
    const canvas = element("canvas", { "aria-hidden": "true", style: `width:${side}px;height:${side}px` });
    paintThumb(canvas, mapOf(app, group, at), [group.maps.height, group.maps.width], {
      size: [side, side],
      scale: scaleOf(app, "sequential"),
    });
    const off = isOff(app, headName(group, layer, head));
    const text = `${group.title} L${layer} H${head}: moved ${bits === null ? "NaN" : bits.toFixed(4)} bits${off ? ", off" : ""}`;
    return element(
      "span",
      {
        class: "moved-cell",
        role: "img",
        "aria-label": text,
        title: text,
        style: `background:${movedTint(app.theme, bits)}`,
      },
      canvas,
    );
  };
  const cells = range(group.layers).flatMap((layer) => range(group.heads).map((head) => cell(layer, head)));
  return element(
    "div",
    { class: "moved-group" },
    element("span", { class: "quiet", text: group.title }),
    element(
      "div",
      { class: "moved-grid", style: `grid-template-columns: repeat(${group.heads}, max-content)` },
      ...cells,
    ),
  );
}
