// The kinds of attention to choose from.

import { explained } from "../definitions.js";
import { button, element } from "../elements.js";
import { change } from "../store.js";

export function kindTabs(app) {
  const about = { role: "tablist", "aria-label": "Kind of attention", "data-control": "kind" };
  app.parts.tabs = element("div", { class: "tabs", ...about });
  return app.parts.tabs;
}

// `kinds` are [kind, text]; `keys` of the keyboard choose them, if any.
export function paintKindTabs(app, kinds, { choose = (kind) => change(app, { kind }), keys = [] } = {}) {
  const { base } = app.payload.header;
  const { tabs } = app.parts;
  if (tabs.dataset.drawn !== base) {
    tabs.dataset.drawn = base;
    const tab = ([kind, text], i) =>
      explained(button(text, { role: "tab", "data-kind": kind, onclick: () => choose(kind) }), text, keys[i]);
    tabs.replaceChildren(...kinds.map(tab));
  }
  for (const tab of tabs.children) tab.setAttribute("aria-selected", String(tab.dataset.kind === app.view.kind));
}
