// Puts a widget's script and styles where its data waits for them, for then Streamlit need not send them again with other
// data (attnviz/ui/mount.py).

import { slotOf } from "./slots.js";

// Called once for each place that the widget has in the page. `load` runs once, and returns how the widget is drawn.
export function deliver(name, style, load) {
  const slot = slotOf(name);
  if (slot.isFilled) return;
  slot.isFilled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  slot.resolve({ sheet, draw: load() });
}
