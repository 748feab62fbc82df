// The drawing of the model opens by a button, at the foot of the menu or in the line, and by the key g.

import { whileThere } from "./listening.js";
import { isWriting } from "./writes.js";

export function watchDrawing(app, root) {
  for (const button of root.querySelectorAll(".drawing")) button.onclick = () => app.askDrawing();
  whileThere(app.parts.line, "keydown", (event) => {
    if (event.key !== "g" || isWriting(event) || document.querySelector("[data-testid=stDialog]")) return;
    event.preventDefault();
    app.askDrawing();
  });
}
