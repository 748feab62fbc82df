// The picture for files: the switches with what each head is worth, the two texts, the probabilities; and the numbers.

import { range } from "../../../kit/js/cells.js";
import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { css, luminance } from "../../../kit/js/theme.js";
import { chancesText, marginText } from "./answer.js";
import { tintOf, worthOf, worthText } from "./board.js";
import { headName, isOff } from "./choice.js";

const [CELL, HEIGHT, GAP, LABEL, MARGIN, LINE] = [46, 20, 14, 30, 14, 17];
const STRIP = 520;

const boardWidth = ({ groups }) => LABEL + Math.max(...groups.map(({ heads }) => heads)) * CELL;
const boardHeight = ({ groups }) => groups.reduce((sum, { layers }) => sum + layers * HEIGHT + 2 * GAP + 8, 0);

export const figureName = (app) => `switched-off-${app.payload.header.done.slice(0, 6).join("_") || "nothing"}`;
export const siteOf = ({ payload }) => {
  const count = payload.header.done.length; // which they are, the caption's model says
  return `${count || "no"} ${count === 1 ? "head" : "heads"} off`;
};

export function figureSize(app) {
  const { header } = app.payload;
  const right = 70 + (header.strip.length + header.said.length + header.many.length) * LINE;
  return [boardWidth(header) + STRIP + 3 * MARGIN, Math.max(boardHeight(header), right) + 2 * MARGIN];
}

export function figure(app, pen) {
  const { header } = app.payload;
  let y = MARGIN;
  for (const group of header.groups) y = drawGroup(app, pen, group, y);
  drawAnswer(app, pen, boardWidth(header) + 2 * MARGIN);
}

function drawGroup(app, pen, group, top) {
  pen.text(group.title, MARGIN, top + 6, { size: 12, weight: 600 });
  const y = top + 2 * GAP - 6;
  for (const layer of range(group.layers)) {
    pen.text(`L${layer}`, MARGIN, y + (layer + 0.5) * HEIGHT, { size: 11, colour: app.theme.muted });
    for (const head of range(group.heads))
      drawSwitch(app, pen, { group, layer, head, x: MARGIN + LABEL + head * CELL, y: y + layer * HEIGHT });
  }
  return y + group.layers * HEIGHT + GAP;
}

function drawSwitch(app, pen, { group, layer, head, x, y }) {
  const off = isOff(app, headName(group, layer, head));
  const worth = worthOf(app, group, layer * group.heads + head);
  const tint = off ? null : tintOf(app, worth);
  pen.box(x + 1, y + 1, CELL - 2, HEIGHT - 2, { fill: tint ? css(tint) : null, stroke: app.theme.line, radius: 4 });
  if (off) pen.hatch([[x + 1, y + 1, CELL - 2, HEIGHT - 2]]);
  const colour = tint ? (luminance(tint) < 0.5 ? "#fff" : "#16161d") : app.theme.muted;
  pen.text(off ? "off" : worthText(worth), x + CELL / 2, y + HEIGHT / 2, { size: 10.5, align: "center", colour });
}

function drawAnswer(app, pen, x) {
  const { texts, strip, said, many, asks, strip_title: title } = app.payload.header;
  const counted = many.map((text, at) => (at ? text : `Over many sentences: ${text}`));
  const quiet = { size: 11, colour: app.theme.muted };
  let y = MARGIN + 6;
  for (const [name, runs] of texts
    ? [
        ["unchanged", texts[0]],
        ["now", texts[1]],
      ]
    : []) {
    pen.text(name, x, y, quiet);
    let at = x + 56;
    for (const [text, differs] of runs) {
      const style = { size: 13, weight: differs ? 700 : 400 };
      pen.text(shortened(pen, text, x + STRIP - at, style), at, y, style);
      at += pen.widthOf(text, style.size, style.weight);
    }
    y += LINE + 2;
  }
  for (const text of [...said, ...counted])
    pen.text(shortened(pen, text, STRIP, { size: 11 }), x, (y += LINE) - LINE / 2, quiet);
  y += LINE;
  const heading = `${title.replace(/^./, (letter) => letter.toUpperCase())} ${asks}: above unchanged, below now`;
  pen.text(shortened(pen, strip.length ? heading : asks, STRIP, { size: 11 }), x, y, quiet);
  for (const token of strip) {
    y += LINE;
    pen.text(shortened(pen, token.text, 96), x, y, { size: 12 });
    [app.theme.faint, app.theme.accent].forEach((fill, at) =>
      pen.box(x + 104, y - 5 + 5 * at, Math.max(0.5, 150 * (token.chance[at] ?? 0)), 4, { fill }),
    );
    pen.text(`${chancesText(token)}, ${marginText(token, 1)}`, x + 264, y, quiet);
  }
}

export function csvRows(app) {
  const { header } = app.payload;
  const heads = header.groups.flatMap((group) =>
    range(group.layers).flatMap((layer) =>
      range(group.heads).map((head) => {
        const at = layer * group.heads + head;
        const off = isOff(app, headName(group, layer, head)) ? 1 : 0;
        return [
          group.kind,
          layer,
          head,
          off,
          group.nats?.[at] ?? "",
          group.spreads?.[at] ?? "",
          group.moved[at] ?? "NaN",
        ];
      }),
    ),
  );
  const tokens = header.strip.map(({ text, log, margin, rival }, at) => [
    at,
    text,
    log[0] ?? "NaN",
    log[1] ?? "NaN",
    margin[0] ?? "NaN",
    margin[1] ?? "NaN",
    rival[0],
    rival[1],
  ]);
  return [
    ["kind", "layer", "head", "off", header.unit.column, "effect_in_spreads", "moved_bits"],
    ...heads,
    [],
    [
      "position",
      "token",
      "log_probability_as_it_is",
      "log_probability_now",
      "margin_as_it_is",
      "margin_now",
      "runner_up_as_it_is",
      "runner_up_now",
    ],
    ...tokens,
  ];
}
