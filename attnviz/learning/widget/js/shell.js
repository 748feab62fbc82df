// The component's fixed parts, built once for each place in the page.

import { exportMenu } from "../../../kit/js/downloads.js";
import { button, element, group } from "../../../kit/js/elements.js";
import { pause, playerBar, watchPlayerKeys } from "../../../kit/js/player.js";
import { change } from "../../../kit/js/store.js";
import { windowTip } from "../../../kit/js/tip.js";
import { goTo, lastOf } from "./choice.js";
import { EXPORTS } from "./exports.js";
import { buildPane } from "./pane.js";
import { questionPane } from "./question.js";

export function buildShell(app) {
  const { parts } = app;
  const bar = playerBar(app, element("div", { class: "tools" }, lineChoice(app, parts), exportMenu(app, EXPORTS)));
  parts.bar = element("section", { class: "pane bar", "aria-label": "Player" }, bar);
  parts.runs = element("div", { class: "runs" });
  app.root.replaceChildren(questionPane(app, parts), parts.bar, parts.runs);
  parts.cellTip = windowTip(app);
  watchPlayerKeys(app, (_, { key }) => (key === "Escape" && app.view.site ? () => change(app, { site: "" }) : null));
}

// Whose maps are drawn at the end: those of the watched line, or of one's own.
function lineChoice(app, parts) {
  const choose = (isOwn) => () => {
    pause(app);
    app.showsOwn = isOwn;
    goTo(app, isOwn ? lastOf(app) : app.view.moment);
  };
  parts.watched = button("Line shown", { onclick: choose(false) });
  parts.yours = button("Your line", { title: "At the end of the training", onclick: choose(true) });
  return (parts.lineChoice = group(parts.watched, parts.yours));
}

export function paintLineChoice(app) {
  const { parts, payload } = app;
  const showsOwn = app.showsOwn && app.view.moment === lastOf(app);
  parts.lineChoice.hidden = !payload.runs.some(({ own }) => own);
  parts.watched.setAttribute("aria-pressed", String(!showsOwn));
  parts.yours.setAttribute("aria-pressed", String(Boolean(showsOwn)));
}

// As many panes as runs; they stay when other runs come.
export function fitPanes(app) {
  const { runs } = app.payload;
  while (app.panes.length < runs.length) app.panes.push(buildPane(app));
  app.panes.length = runs.length;
  const nodes = app.panes.map(({ node }) => node);
  const { parts } = app;
  if (parts.runs.childElementCount !== nodes.length) parts.runs.replaceChildren(...nodes);
  parts.runs.dataset.count = String(nodes.length);
}
