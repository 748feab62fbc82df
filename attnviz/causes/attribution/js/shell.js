// The component's fixed parts, and how all of it is painted.

import { helpButton, helpPane, toggleHelp } from "../../../kit/js/base/help.js";
import { watchKeys } from "../../../kit/js/base/keys.js";
import { choices, exportTools, paintChoices } from "../../../kit/js/base/parts.js";
import { paintWords, wordsPane } from "../../../kit/js/base/words.js";
import { clamp } from "../../../kit/js/cells.js";
import { explained, termNode } from "../../../kit/js/definitions.js";
import { button, element, put } from "../../../kit/js/elements.js";
import { announce } from "../../../kit/js/live_region.js";
import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { tellPainted } from "../../../kit/js/resize.js";
import { change } from "../../../kit/js/store.js";
import { exactText, isolated } from "../../../kit/js/text.js";
import { ROW, barsHeight, paintBars } from "./bars.js";
import { open, ordered } from "./choice.js";
import { lensTable, showAsked } from "./lens.js";
import { openedBars } from "./opened.js";

const KEYS = [
  ["↑ ↓", "walk the heads' bars"],
  ["Enter", "open the bar, or close it"],
  ["D", "show what falls without each head", "drops"],
  ["O", "the other order"],
  ["g", "the model as a drawing", "drawing"],
  ["?", "these keys and words"],
];
const WORDS = ["Adds directly", "Falls without it", "Logit lens"];
const HINT = "Click a head’s bar to open it (or arrow keys and Enter).";
const DIRECT = "The bar of a part does not contain its effect through later layers.";
const INTO_MEMORY = "Encoder heads write only into the memory, which reaches the answer through cross-attention.";

export function buildShell(app) {
  const { parts } = app;
  parts.title = element("h2");
  parts.sum = element("p", { class: "quiet sum" });
  parts.why = element("p", { class: "sum", role: "status" });
  parts.legend = element(
    "p",
    { class: "legend" },
    element("span", { class: "swatch" }),
    termNode("Adds directly"),
    element("span", { class: "swatch thin" }),
    termNode("Falls without it"),
  );
  parts.canvas = element("canvas", { role: "img" });
  const label = "What adds to the logit";
  parts.box = element("div", { class: "scrolls", tabindex: "0", role: "group", "aria-label": label }, parts.canvas);
  const order = choices(app, "order");
  parts.drops = explained(
    button("Falls without it", { "data-control": "drops", onclick: () => toggleDrops(app) }),
    "Falls without it",
    "D",
  );
  parts.openedTitle = element("h2");
  parts.openedCanvas = element("canvas", { role: "img" });
  parts.openedBox = element("div", {}, parts.openedCanvas);
  parts.lenses = element("div");
  parts.direct = element("p", { class: "quiet" });
  const tools = element("div", { class: "tools" }, order, parts.drops, exportTools(app), helpButton(app));
  app.root.replaceChildren(
    wordsPane(app),
    element(
      "section",
      { class: "pane bars", "aria-label": label },
      parts.title,
      element("header", {}, tools),
      parts.sum,
      parts.why,
      parts.legend,
      parts.box,
      element("footer", { class: "quiet", text: HINT }),
    ),
    element(
      "section",
      { class: "pane side", "aria-label": "Opened bar and logit lens" },
      parts.openedTitle,
      parts.openedBox,
      element("h2", {}, termNode("Logit lens")),
      parts.lenses,
      parts.direct,
    ),
    helpPane(app, KEYS, WORDS),
  );
  watchBars(app);
  watchKeys(app, actionOf);
}

function watchBars(app) {
  const { canvas } = app.parts;
  canvas.onclick = ({ clientY }) => {
    const bar = ordered(app)[Math.floor((clientY - canvas.getBoundingClientRect().top) / ROW)];
    if (bar?.head) open(app, bar);
  };
}

function actionOf(app, event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const heads = ordered(app).filter(({ head }) => head);
  const at = heads.findIndex(({ head }) => head === app.cursor);
  const actions = {
    ArrowDown: () => walk(app, heads, at + 1),
    ArrowUp: () => walk(app, heads, at - 1),
    Enter: at < 0 ? null : () => open(app, heads[at]),
    d: () => toggleDrops(app),
    o: () => change(app, { order: app.view.order === "size" ? "model" : "size" }),
    "?": () => toggleHelp(app),
    Escape: app.parts.help.hidden ? null : () => toggleHelp(app),
  };
  return actions[key] ?? null;
}

function walk(app, heads, at) {
  if (!heads.length) return;
  const bar = heads[clamp(at, 0, heads.length - 1)];
  app.cursor = bar.head;
  announce(app, `${bar.name} adds ${exactText(bar.value)}`);
  paintPicture(app);
}

const toggleDrops = (app) => change(app, { drops: app.view.drops ? 0 : 1 });

export function titleOf({ token, against, step, steps }) {
  const name = isolated(token);
  const at = steps.length > 1 ? `, step ${step}` : ""; // an image has a single one
  return against === null
    ? `What adds to the logit of ${name}${at}`
    : `What puts ${name} ahead of ${isolated(against)}${at}`;
}

export const sumText = ({ total, logit, spread }) =>
  `The bars sum to ${exactText(total)}; the model says ${exactText(logit)}. They are ${Math.abs(total - logit).toExponential(1)} apart, ` +
  `${(Math.abs(total - logit) / spread).toExponential(1)} of the range of these logits.`;

export const whyText = ({ why_last: why }) =>
  why &&
  `Only the last layer of this model is split, because ${why}. The bar “layers before” contains everything before the last layer.`;

export function paint(app, began) {
  const { parts, payload, view } = app;
  const { header } = payload;
  paintChoices(app);
  paintWords(app, () => "");
  parts.words.parentElement.hidden = header.steps.length < 2; // an image has a single step
  put(parts.direct, header.kinds.some(([kind]) => kind === "cross") ? `${DIRECT} ${INTO_MEMORY}` : DIRECT);
  put(parts.title, titleOf(header));
  put(parts.sum, sumText(header));
  put(parts.why, whyText(header));
  parts.why.hidden = !header.why_last;
  parts.legend.hidden = !header.has_drops;
  parts.drops.setAttribute("aria-pressed", String(Boolean(view.drops)));
  if (app.lensKey !== header.id) {
    app.cursor = null; // a bar of another logit
    app.lensKey = header.id;
    parts.lenses.replaceChildren(...header.lenses.map(lensTable));
    showAsked(parts.lenses);
  }
  paintPicture(app);
  paintOpened(app);
  tellPainted(app, began);
}

function paintPicture(app) {
  const { parts } = app;
  const bars = ordered(app);
  const width = Math.max(260, parts.box.clientWidth - 4);
  const context = sharpContext(parts.canvas, [width, barsHeight(bars.length)]);
  const framed = app.cursor ?? app.view.opened;
  const chosen = bars.findIndex(({ head }) => head && head === framed);
  paintBars(canvasPen(context, app.theme), app.theme, bars, { top: 0, width, chosen });
  parts.canvas.setAttribute("aria-label", `${titleOf(app.payload.header)}. ${sumText(app.payload.header)}`);
}

function paintOpened(app) {
  const { parts } = app;
  const found = openedBars(app);
  put(
    parts.openedTitle,
    found
      ? `${found.title}: ${exactText(found.whole)}`
      : "Click a head’s bar to open it into the tokens that it looks at",
  );
  parts.openedBox.hidden = !found;
  if (!found) return;
  const width = Math.max(240, parts.openedTitle.clientWidth);
  const context = sharpContext(parts.openedCanvas, [width, barsHeight(found.bars.length)]);
  paintBars(canvasPen(context, app.theme), app.theme, found.bars, { top: 0, width });
  parts.openedCanvas.setAttribute(
    "aria-label",
    `${found.title}: ${found.bars
      .slice(0, 5)
      .map(({ name, value }) => `${name} ${exactText(value)}`)
      .join(", ")}`,
  );
}
