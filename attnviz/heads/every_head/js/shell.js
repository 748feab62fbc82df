// The component's fixed parts, and how all of it is painted.

import { kindTabs, paintKindTabs } from "../../../kit/js/base/kind_tabs.js";
import { picturePane } from "../../../kit/js/base/pane.js";
import { choices, paintChoices } from "../../../kit/js/base/parts.js";
import { element } from "../../../kit/js/elements.js";
import { fillSelect, select } from "../../../kit/js/lists.js";
import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { sharpness, tellPainted } from "../../../kit/js/resize.js";
import { change } from "../../../kit/js/store.js";
import { rowName } from "../../../kit/js/text.js";
import { hideTip, windowTip } from "../../../kit/js/tip.js";
import { paintCells } from "./cells.js";
import { formOf } from "./form.js";

export function buildShell(app) {
  const { parts } = app;
  parts.canvas = element("canvas", { role: "img" });
  parts.cells = element("div", { role: "grid", "aria-label": "Every head" });
  parts.body = element("div", { class: "heads-body" }, parts.canvas, parts.cells);
  parts.note = element("footer", { class: "quiet" });
  parts.row = select("Row", { key: "j k", control: "row", onchoose: (row) => change(app, { row: Number(row) }) });
  const tools = [kindTabs(app), parts.row.node, choices(app, "scale"), choices(app, "mini")];
  app.root.replaceChildren((parts.pane = picturePane(app, { label: "Every head", tools }, parts.body, parts.note)));
  parts.cellTip = windowTip(app);
  app.root.onkeydown = (event) => anotherRow(app, event);
}

function anotherRow(app, event) {
  const step = { j: 1, k: -1 }[event.key];
  const { form, row: now, rows } = app.payload.header;
  if (form !== "row" || !step || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT")
    return;
  if (now + step >= 0 && now + step < rows.length) change(app, { row: now + step });
  event.preventDefault();
}

// A row of the encoder is one of another sentence: it is let go of here, since a further choice may come before Python answers.
function chooseKind(app, kind) {
  const isOther = kind !== app.view.kind && [kind, app.view.kind].includes("encoder_self");
  change(app, app.payload.header.form === "row" && isOther ? { kind, row: null } : { kind });
}

export function paint(app, began) {
  const { parts, payload, theme, view } = app;
  const { header } = payload;
  const form = formOf(app);
  paintTools(app);
  parts.pane.setAttribute("aria-label", form.label);
  parts.title.textContent = form.title(app);
  parts.question.textContent = form.question(header);
  const place = () => form.layoutOf(app, [parts.body.clientWidth, parts.body.clientHeight]);
  app.layout = place();
  parts.note.textContent = [...form.notes(app), ...hintsOf(app, form)].join(" · ");
  app.layout = place(); // the note takes room
  const { width, height } = app.layout;
  const key = JSON.stringify([header.base, theme.key, view.mini, view.scale, app.layout, sharpness()]);
  if (app.paintedKey !== key) {
    app.paintedKey = key;
    hideTip(parts.cellTip); // another picture is under a pointer that rests
    const context = sharpContext(parts.canvas, [width, height]);
    form.draw(app, canvasPen(context, theme), context);
  }
  paintCells(app);
  parts.canvas.setAttribute("aria-label", `${parts.title.textContent}. ${parts.note.textContent}`);
  tellPainted(app, began);
}

const hintsOf = ({ lacks }, { hints }) => hints.filter(([control]) => !lacks.has(control)).map(([, text]) => text);

function paintTools(app) {
  const { parts, payload } = app;
  const { form, kinds, row, rows } = payload.header;
  paintKindTabs(app, kinds, { choose: (kind) => chooseKind(app, kind) });
  paintChoices(app);
  parts.row.node.hidden = form !== "row";
  if (form === "row")
    fillSelect(
      parts.row,
      rows.map((one, at) => [String(at), `${at}: ${rowName(one)}`]),
      String(row),
    );
}
