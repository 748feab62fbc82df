// The widget's fixed parts: the drawing, the step beside it, and the buttons that walk; and how all of it is painted.

import { exportMenu } from "../../../kit/js/downloads.js";
import { element, put } from "../../../kit/js/elements.js";
import { announce } from "../../../kit/js/live_region.js";
import { measured } from "../../../kit/js/pens/canvas_pen.js";
import { paintPlayer, playerButtons, playerText } from "../../../kit/js/player.js";
import { tellPainted } from "../../../kit/js/resize.js";
import { change } from "../../../kit/js/store.js";
import { drawing } from "./figure.js";
import { savePicture } from "./files.js";
import { watchKeys } from "./keys.js";
import { layoutOf } from "./layout.js";
import { paintStep } from "./panel.js";
import { queryOf } from "./places.js";
import { LEFT_OUT, mainKind, rowsOf, rowText } from "./steps.js";
import { stepInView } from "./story.js";

const IDLE = "Play runs this sentence’s numbers through the model, one step at a time.";
const LEADS_ON = "Click a part to open the page that shows it.";

export function buildShell(app) {
  const { parts } = app;
  parts.figure = element("div", { class: "figure" });
  parts.figure.onclick = (event) => clicked(app, event);
  parts.figure.onkeydown = (event) => {
    if (event.key === "Enter" || event.key === " ") clicked(app, event);
  };
  const canvas = element("section", { class: "pane figure-pane", "aria-label": "The model" }, parts.figure);
  app.root.replaceChildren(canvas, storyPane(app));
  watchKeys(app);
}

function storyPane(app) {
  const { parts } = app;
  parts.row = element("select", { "aria-label": "Row" });
  parts.row.onchange = () => change(app, { row: Number(parts.row.value) });
  parts.rowPick = element("label", { class: "pick" }, element("span", { text: "Row" }), parts.row);
  const menu = exportMenu(app, [
    ["PNG picture", () => savePicture(app, "png")],
    ["SVG picture", () => savePicture(app, "svg")],
  ]);
  parts.title = element("h2");
  parts.text = element("p");
  parts.values = element("div", { class: "values" });
  parts.note = element("p", { class: "quiet note" });
  const buttons = playerButtons(app, ["back", "play", "next"]);
  parts.player = element("div", { class: "tools quiet" }, ...buttons, playerText(app));
  return element(
    "section",
    { class: "pane story", "aria-label": "Step by step" },
    element("div", { class: "tools spread" }, parts.player, menu),
    parts.rowPick,
    parts.title,
    parts.text,
    parts.values,
    parts.note,
  );
}

export function paint(app, began) {
  const step = stepInView(app);
  paintFigure(app, step);
  paintStory(app);
  const { run, why, places } = app.payload.header;
  const idle = Object.keys(places ?? {}).length ? `${IDLE} ${LEADS_ON}` : IDLE;
  put(app.parts.title, step?.title ?? (run ? "Step by step" : "The model without numbers"));
  put(app.parts.text, step?.text ?? (run ? idle : why));
  put(app.parts.note, step && !run.bare ? LEFT_OUT : "");
  paintStep(app, step);
  if (step) announce(app, `${step.title}. ${step.text}`);
  tellPainted(app, began);
}

function paintFigure(app, step) {
  const { payload, theme, view, parts } = app;
  const { built, here, base } = payload.header;
  const width = parts.figure.clientWidth;
  const key = JSON.stringify([base, theme.key, width, view.opened, step?.id ?? null, payload.header.places]);
  if (app.figureKey === key || !width) return;
  app.figureKey = key;
  const focused = app.root.getRootNode().activeElement?.closest("[data-part]")?.dataset.part;
  const widthOf = (text, size, weight) => measured(text, size, weight, theme.font);
  app.layout = layoutOf(built, { width, here, opened: new Set(view.opened), widthOf });
  parts.figure.replaceChildren(drawing(app, app.layout, new Set(step?.parts ?? [])));
  if (focused) reach(app, focused);
  if (step && view.step !== null) showLit(parts.figure);
}

const reach = (app, id) =>
  app.parts.figure.querySelector(`[data-part="${CSS.escape(id)}"] :is(a, [tabindex])`)?.focus({ preventScroll: true });

const showLit = (figure) => figure.querySelector(".lit")?.scrollIntoView({ block: "nearest", inline: "nearest" });

function paintStory(app) {
  const { parts, payload } = app;
  const { run } = payload.header;
  parts.player.hidden = parts.rowPick.hidden = !run;
  if (!run) return;
  paintPlayer(app);
  paintRow(app, run, payload.header.base);
}

function paintRow(app, run, base) {
  const { row } = app.parts;
  if (row.dataset.of !== base) {
    row.dataset.of = base;
    const rows = rowsOf(run);
    row.replaceChildren(...rows.map((_, at) => element("option", { value: at, text: rowText(rows, at) })));
    const { n_rows: count } = run.kinds[mainKind(run)];
    app.parts.rowPick.title = count > rows.length ? `The first ${rows.length} of ${count} rows` : "";
  }
  row.value = String(app.view.row);
}

function clicked(app, event) {
  const fold = event.target.closest("[data-fold]")?.dataset.fold;
  if (fold) {
    event.preventDefault();
    const { opened } = app.view;
    return change(app, { opened: opened.includes(fold) ? opened.filter((one) => one !== fold) : [...opened, fold] });
  }
  const link = event.target.closest("a");
  if (event.type !== "click" || !link?.place) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // the browser's own: another tab
  event.preventDefault();
  app.root.go({ page: link.place.page, query: queryOf(link.place) });
}
