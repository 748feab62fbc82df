// The component's fixed parts, built once for each place in the page.

import { kindTabs } from "../../kit/js/base/kind_tabs.js";
import { watchKeys } from "../../kit/js/base/keys.js";
import { termNode } from "../../kit/js/definitions.js";
import { button, element } from "../../kit/js/elements.js";
import { select } from "../../kit/js/lists.js";
import { windowTip } from "../../kit/js/tip.js";
import { choose } from "./choice.js";
import { headsHelp, toggleHelp } from "./help.js";
import { keyAction } from "./keys.js";
import { focusPane } from "./map/focus_pane.js";
import { watchPointer } from "./map/pointer.js";

export function buildShell(app) {
  const { parts } = app;
  app.root.replaceChildren(stripPane(parts), overviewPane(app, parts), focusPane(app, parts), headsHelp(app));
  parts.cellTip = windowTip(app);
  watchPointer(app);
  watchKeys(app, keyAction);
}

function stripPane(parts) {
  parts.strip = element("div", { class: "strip-lines" });
  return element("section", { class: "pane strip", "aria-label": "Sentences" }, parts.strip);
}

function overviewPane(app, parts) {
  parts.summary = element("span", { class: "summary" });
  parts.sort = select("Sort", { onchoose: (sort) => choose(app, { sort }) });
  parts.grid = element("div", { class: "avz-grid", role: "grid" });
  parts.gridBox = element("div", { class: "grid-box" }, parts.grid);
  const head = element("header", { class: "spread" }, element("h2", {}, termNode("Every head")), kindTabs(app));
  const tools = element("div", { class: "tools" }, parts.sort.node);
  const foot = element(
    "footer",
    { class: "quiet spread" },
    parts.summary,
    (parts.helpButton = button("? help", { class: "link", onclick: () => toggleHelp(app) })),
  );
  return element("section", { class: "pane overview", "aria-label": "Every head" }, head, tools, parts.gridBox, foot);
}
