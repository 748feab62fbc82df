// The component's fixed parts, and how all of it is painted.

import { kindTabs, paintKindTabs } from "../../base/js/kind_tabs.js";
import { picturePane } from "../../base/js/pane.js";
import { choices, paintChoices } from "../../base/js/parts.js";
import { element } from "../../shared/js/elements.js";
import { fillSelect, select } from "../../shared/js/lists.js";
import { canvasPen, sharpContext } from "../../shared/js/pens/canvas_pen.js";
import { sharpness, tellPainted } from "../../shared/js/resize.js";
import { change } from "../../shared/js/store.js";
import { attendingNote, exactText, rowName } from "../../shared/js/text.js";
import { windowTip } from "../../shared/js/tip.js";
import { paintCells } from "./grid.js";
import { layoutOf } from "./layout.js";
import { highest, keysToAName, paintStrips } from "./strips.js";

const HINT = "Click a strip (or arrow keys and Enter) to open its head; j and k change the row";

export function buildShell(app) {
  const { parts } = app;
  parts.canvas = element("canvas", { role: "img" });
  parts.cells = element("div", { role: "grid", "aria-label": "Every head" });
  parts.body = element("div", { class: "strips-body" }, parts.canvas, parts.cells);
  parts.note = element("footer", { class: "quiet" });
  parts.row = select("Row", { key: "j k", onchoose: (row) => change(app, { row: Number(row) }) });
  const range = choices(app, "scale");
  const tools = [kindTabs(app), parts.row.node, range];
  app.root.replaceChildren(picturePane(app, { label: "One row", tools }, parts.body, parts.note));
  parts.cellTip = windowTip(app.root);
  app.root.onkeydown = (event) => anotherRow(app, event);
}

function anotherRow(app, event) {
  const step = { j: 1, k: -1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const row = app.payload.header.row + step;
  if (row >= 0 && row < app.payload.header.rows.length) change(app, { row });
  event.preventDefault();
}

export function paint(app, began) {
  const { parts, payload, view } = app;
  const { header } = payload;
  paintKindTabs(app, header.kinds);
  paintChoices(app);
  const rows = header.rows.map((row, at) => [String(at), `${at}: ${rowName(row)}`]);
  fillSelect(parts.row, rows, String(header.row));
  parts.title.textContent = titleOf(app);
  parts.question.textContent = `${header.question}, in every head`;
  const place = () => layoutOf(app, [parts.body.clientWidth, parts.body.clientHeight]);
  app.layout = place();
  parts.note.textContent = [...notesOf(app), HINT].join(" · ");
  app.layout = place(); // the note takes room
  const { width, height } = app.layout;
  const key = JSON.stringify([header.base, app.theme.key, view.scale, width, height, sharpness()]);
  if (app.paintedKey !== key) {
    app.paintedKey = key;
    parts.cellTip.hidden = true; // another picture is under a pointer that rests
    paintStrips(app, canvasPen(sharpContext(parts.canvas, [width, height]), app.theme));
  }
  paintCells(app);
  parts.canvas.setAttribute("aria-label", `${titleOf(app)}. ${parts.note.textContent}`);
  tellPainted(app, began);
}

export const titleOf = ({ payload: { header } }) =>
  `${header.title}, row ${header.row}: ${rowName(header.rows[header.row])}`;

const reach = (high) => (high === 1 ? "1" : exactText(high));

// What is drawn and what is not, the same in files.
export function notesOf(app) {
  const { shape, unseen, off, layer_numbers: numbers, left_out: leftOut } = app.payload.header;
  const notes = [`weights of ${shape[0]} layers × ${shape[1]} heads, colours from 0 to ${reach(highest(app))}`];
  if (app.layout && app.layout.cell * sharpness() < 1) notes.push("each line shows the largest weight of several keys");
  if (app.layout && keysToAName(app) > 1) notes.push(`one key in ${keysToAName(app)} is named`);
  notes.push("beside each strip: its largest weight");
  if (unseen.length) notes.push("hatched: masked");
  if (off.length) notes.push("struck through: head off");
  if (leftOut) notes.push(leftOut);
  if (numbers.length) notes.push(attendingNote(numbers));
  return notes;
}
