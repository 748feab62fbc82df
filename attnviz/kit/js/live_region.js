// Text for screen readers. Waiting a moment keeps it from reading every head that a held arrow key passes.

import { element } from "./elements.js";

export const liveRegion = () => element("div", { class: "live", "aria-live": "polite", role: "status" });

export function announce(app, text) {
  if (text === app.announced) return;
  app.announced = text;
  clearTimeout(app.announceTimer);
  app.announceTimer = setTimeout(() => {
    app.parts.live.textContent = text;
  }, 150);
}
