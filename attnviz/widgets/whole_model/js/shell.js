// The component's fixed parts, and how all of it is painted.

import { kindTabs, paintKindTabs } from "../../base/js/kind_tabs.js";
import { picturePane } from "../../base/js/pane.js";
import { choices, paintChoices } from "../../base/js/parts.js";
import { canvasPen, sharpContext } from "../../shared/js/pens/canvas_pen.js";
import { element } from "../../shared/js/elements.js";
import { sharpness, tellPainted } from "../../shared/js/resize.js";
import { attendingNote } from "../../shared/js/text.js";
import { windowTip } from "../../shared/js/tip.js";
import { paintCells } from "./grid.js";
import { layoutOf } from "./layout.js";
import { FAINTEST, LINES_A_ROW, paintMiniatures } from "./miniatures.js";

const HINT = "Click one (or arrow keys and Enter) to open it";

export function buildShell(app) {
  const { parts } = app;
  parts.canvas = element("canvas", { role: "img" });
  parts.cells = element("div", { class: "minis", role: "grid", "aria-label": "Every head" });
  parts.body = element("div", { class: "mini-body" }, parts.canvas, parts.cells);
  parts.note = element("footer", { class: "quiet" });
  const drawnAs = choices(app, "mini");
  const tools = [kindTabs(app), drawnAs];
  app.root.replaceChildren(picturePane(app, { label: "Whole model", tools }, parts.body, parts.note));
  parts.cellTip = windowTip(app.root);
}

export function paint(app, began) {
  const { parts, payload, view } = app;
  const { header } = payload;
  paintKindTabs(app, header.kinds);
  paintChoices(app);
  parts.title.textContent = `${header.title}: every head`;
  parts.question.textContent = header.question;
  parts.note.textContent = [...notesOf(app), HINT].join(" · "); // first, for it takes room
  app.layout = layoutOf(app, [parts.body.clientWidth, parts.body.clientHeight]);
  const key = JSON.stringify([header.base, app.theme.key, view.mini, app.layout, sharpness()]);
  if (app.paintedKey !== key) {
    app.paintedKey = key;
    parts.cellTip.hidden = true; // another picture is under a pointer that rests
    const context = sharpContext(parts.canvas, [app.layout.width, app.layout.height]);
    paintMiniatures(app, canvasPen(context, app.theme), context);
  }
  paintCells(app);
  parts.canvas.setAttribute(
    "aria-label",
    `${header.title} of ${header.shape[0]} layers with ${header.shape[1]} heads. ${parts.note.textContent}`,
  );
  tellPainted(app, began);
}

// What is drawn and what is not, the same in files.
export function notesOf(app) {
  const [layers, heads, rows, cols] = app.payload.header.shape;
  const [q, k] = app.payload.header.size;
  const notes = [`${layers} layers × ${heads} heads`];
  if (app.view.mini === "lines")
    notes.push(`the ${LINES_A_ROW} strongest lines of each row from weight ${(FAINTEST / 255).toFixed(2)} on`);
  else notes.push("colours from 0 to 1");
  if (q > rows || k > cols) notes.push(`each cell shows the largest weight of a block of the ${q} × ${k} map`);
  const numbers = app.payload.header.layer_numbers;
  if (numbers.length) notes.push(attendingNote(numbers));
  return notes;
}
