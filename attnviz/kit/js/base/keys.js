// Keys of a widget: they work wherever it has the focus, and where nothing else on the page has it, if its host hears the
// page's keys at all.

import { whileAttached } from "../attached.js";

const OWN_KEYS =
  "input, textarea, select, button, a, summary, iframe, [contenteditable], [role=listbox], [role=dialog]";

// `actionOf(app, event)` is what a key does, or null; of a switch or a button, Enter and Space are its own.
export function watchKeys(app, actionOf) {
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !app.payload) return;
    const { tagName } = event.target;
    if (tagName === "SELECT" || tagName === "INPUT") return;
    if ((tagName === "BUTTON" || tagName === "SUMMARY") && (event.key === "Enter" || event.key === " ")) return;
    const act = actionOf(app, event);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  app.root.onkeydown = pressed;
  const heard = (event) => {
    // The whole path: a button of another widget of ours is hidden behind its host.
    const path = event.composedPath();
    if (!path.includes(app.root) && !path.some((node) => node.matches?.(OWN_KEYS))) pressed(event);
  };
  whileAttached(app, (signal) => app.host.keys.addEventListener("keydown", heard, { signal }));
}
