// Files made in the browser: a picture as PNG and SVG, numbers as CSV; and the menu that offers them.

import { canvasPen } from "./pens/canvas_pen.js";
import { CAPTIONS, captionHeight, captionRows } from "./caption.js";
import { explained } from "./definitions.js";
import { button, element, saveFile } from "./elements.js";
import { saveHTML } from "./files/html_file.js";
import { liftMenu } from "./top_layer/menu.js";
import { svgPen } from "./pens/svg_pen.js";

const TOO_LONG =
  "The browser does not have all the numbers, so it cannot save this file. You can write the file in Python with trace.to_html(…).";

// `items` are [text, act], and the name of the control that Python has to answer, if any.
export function exportMenu(app, items) {
  const menu = element("details", { class: "menu" }, explained(element("summary", { text: "Export" }), "Export"));
  const item = ([text, act, control]) =>
    button(text, {
      "data-control": control,
      role: "menuitem",
      onclick: () => {
        menu.open = false;
        act(app);
      },
    });
  const file = item(["Interactive HTML", () => saveHTML(app, "attnviz", captionLines(app))]);
  const why = element("p", { class: "quiet why-no-file", text: TOO_LONG });
  menu.append(element("div", { class: "menu-list", role: "menu" }, ...items.map(item), file, why));
  menu.addEventListener("toggle", () => {
    file.hidden = !app.source; // its host does not say what it is made of
    file.disabled = app.widget.isWhole?.(app) === false;
    why.hidden = file.hidden || !file.disabled;
  });
  liftMenu(app, menu);
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation(); // else the same key would let the pinned row go
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(event.relatedTarget)) menu.open = false;
  });
  return menu;
}

// Twice as many pixels as the screen shows. `draw(pen, context)` draws the figure.
export function savePNG(app, name, [width, figure], draw) {
  const rows = captionOf(app, width);
  const height = figure + captionHeight(rows);
  const canvas = element("canvas", { width: width * 2, height: height * 2 });
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.fillStyle = app.theme.paper;
  context.fillRect(0, 0, width, height);
  const pen = canvasPen(context, app.theme);
  draw(pen, context);
  drawCaption(app, pen, rows, figure);
  canvas.toBlob((blob) => saveFile(`${name}.png`, [blob], "image/png"));
}

// `draw(pen)` draws the figure, and returns as SVG what a pen has no stroke for.
export function saveSVG(app, name, [width, figure], draw) {
  const rows = captionOf(app, width);
  const pen = svgPen(app.theme);
  const extra = draw(pen, null) ?? "";
  drawCaption(app, pen, rows, figure);
  const size = [width, figure + captionHeight(rows)];
  saveFile(`${name}.svg`, [pen.document(...size, extra)], "image/svg+xml");
}

const captionOf = (app, width) => captionRows(captionLines(app), width, app.theme.font);

function captionLines(app) {
  const { sentence, site, model } = app.payload.header.caption ?? {};
  const about = [site || app.widget.siteOf(app), model].filter(Boolean).join(" · ");
  return [sentence, about].filter(Boolean);
}

function drawCaption(app, pen, rows, top) {
  const style = { size: CAPTIONS.size, colour: app.theme.muted };
  rows.forEach((row, i) => pen.text(row, CAPTIONS.margin, top + (i + 0.5) * CAPTIONS.line, style));
}

// An apostrophe stands before everything that a spreadsheet could take for the start of a formula, whichever sign it
// divides lines by; numbers stay as they are. The same rule is in `attnviz/guards/spreadsheet.py`.
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;
const FORMULA =
  /(?:^|(?<=[;|\t\r\n\v\f\x85\u2028\u2029]))(?=[ \xa0\u2000-\u200b\u3000\ufeff"']*[=+\-@＝＋－＠])|^(?=[\t\r])/g;
export const harmless = (text) => (NUMBER.test(text) ? text : text.replace(FORMULA, "'"));

const quoted = (text) => `"${harmless(String(text ?? "")).replaceAll('"', '""')}"`;

// `rows` hold texts and numbers; the mark at the start makes spreadsheet programs read UTF-8.
export function saveCSV(name, rows) {
  const line = (row) => row.map((cell) => (typeof cell === "number" ? cell : quoted(cell))).join(",");
  saveFile(`${name}.csv`, ["\ufeff", rows.map(line).join("\r\n"), "\r\n"], "text/csv;charset=utf-8");
}
