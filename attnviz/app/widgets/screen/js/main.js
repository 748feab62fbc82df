// The frame on different screens: a line in the place of menu and bar where both do not fit, the
// picture alone (Present), the button for the drawing of the model, which is made when it is asked for; links that wait
// for what was just typed; the page as it is printed; and how much room a lesson leaves for the picture on a phone.

import { watchDrawing } from "./drawing.js";
import { watchLeaving } from "./leaving.js";
import { whileThere } from "./listening.js";
import { sayLine, watchLine } from "./line.js";
import { receivePresent, watchPresent } from "./present.js";
import { watchPrinting } from "./printing.js";
import { watchRoom } from "./room.js";

export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const place = parentElement.querySelector(".line");
  const app = (place.attnviz ??= start(parentElement));
  app.send = (chosen) => setStateValue("present", chosen);
  app.askDrawing = () => setTriggerValue("drawing", true);
  sayLine(app, data);
  receivePresent(app, data);
}

function start(root) {
  const names = ["line", "menu", "fold", "run", "foot", "leave"];
  const parts = Object.fromEntries(names.map((name) => [name, root.querySelector(`.${name}`)]));
  const app = { parts, isPresented: false, seq: 0, picture: null };
  watchLine(app);
  watchPresent(app);
  watchDrawing(app, root);
  watchLeaving(app);
  watchPrinting(app);
  watchRoom(app);
  watchSkipping(parts.line);
  return app;
}

// After "Skip to main content" the next Tab goes to the bar's first field, past this widget's own buttons, which stand
// before it in the page.
function watchSkipping(line) {
  whileThere(line, "keydown", (event) => {
    if (event.key !== "Tab" || event.shiftKey || document.activeElement?.id !== "stMain") return;
    const fields = [...document.querySelectorAll(".st-key-top-bar :is(input, button, a)")];
    const first = fields.find((field) => field.checkVisibility() && !field.disabled);
    if (!first) return;
    event.preventDefault();
    first.focus();
  });
}
