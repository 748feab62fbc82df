// The panes of a tab: a header with its tools, what is drawn, a footer.

import { element } from "../elements.js";
import { helpButton } from "./help.js";
import { exportTools } from "./parts.js";

// `label` names it to screen readers, `className` to its styles.
export function pane({ label, className = "", head = [], tools = [] }, ...content) {
  if (tools.length) head = [...head, element("div", { class: "tools" }, ...tools)];
  const header = element("header", {}, ...head);
  return element("section", { class: `pane ${className}`.trim(), "aria-label": label }, header, ...content);
}

// The pane of the picture itself: title and question, tools, and the menu that saves it.
export function picturePane(app, { tools = [], hasHelp = false, ...options }, ...content) {
  const { parts } = app;
  parts.title = element("h2");
  parts.question = element("span", { class: "quiet" });
  const head = [element("div", { class: "said" }, parts.title, parts.question)];
  const help = hasHelp ? [helpButton(app)] : [];
  return pane({ ...options, head, tools: [...tools, exportTools(app), ...help] }, ...content);
}
