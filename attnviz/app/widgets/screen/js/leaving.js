// A link that is pressed while what was typed is still on its way. Streamlit commits a field that loses the focus a
// moment later, as a choice on the page that it takes to be open: where the page that is asked for was told before, that
// choice brings back the page that is left. So the link waits until the server has heard what was typed.

import { whileThere } from "./listening.js";

const COMMITTED = 600; // milliseconds in which a field has told what was typed, whatever becomes of it
const FIELD = "input, textarea";

export function watchLeaving({ parts: { line } }) {
  let typed = null; // { left }: when the field was left that something was typed into, as far as it was
  const hear = (name, act) => whileThere(line, name, act, window);
  hear("input", ({ target }) => (typed = target.matches?.(FIELD) ? { left: null } : typed));
  hear("focusout", () => typed && (typed.left ??= performance.now()));
  hear("keydown", ({ key, target }) => key === "Enter" && target.matches?.("input") && (typed = null));
  hear("click", (event) => {
    const link = linkOf(event);
    if (!link || !typed) return;
    const isOld = typed.left !== null && performance.now() - typed.left > COMMITTED;
    typed = null;
    if (isOld) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    onceHeard(() => link.click());
  });
}

function linkOf(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return null; // it opens beside the page, which stays
  return event.composedPath().find((node) => node instanceof Element && node.matches("a[href]:not([download])"));
}

// Calls when a run begins, or after as long as a field takes.
function onceHeard(act) {
  const app = document.querySelector("[data-testid=stApp]");
  const done = () => {
    watcher.disconnect();
    clearTimeout(timer);
    act();
  };
  const timer = setTimeout(done, COMMITTED);
  const watcher = new MutationObserver(() => app.dataset.testScriptState === "running" && done());
  if (app) watcher.observe(app, { attributeFilter: ["data-test-script-state"] });
}
