// What the frame does on different screens: a line that stands for menu and bar where there is no room for both, and the
// picture alone (Present).

import { sayLine, watchLine } from "./line.js";
import { receivePresent, watchPresent } from "./present.js";

export default function ({ parentElement, data, setStateValue }) {
  const place = parentElement.querySelector(".line");
  const app = (place.attnviz ??= start(parentElement));
  app.send = (chosen) => setStateValue("present", chosen);
  sayLine(app, data);
  receivePresent(app, data);
}

function start(root) {
  const names = ["line", "menu", "fold", "run", "leave"];
  const parts = Object.fromEntries(names.map((name) => [name, root.querySelector(`.${name}`)]));
  const app = { parts, isPresented: false, seq: 0, picture: null };
  watchLine(app);
  watchPresent(app);
  return app;
}
