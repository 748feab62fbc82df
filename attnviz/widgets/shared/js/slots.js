// Where a widget's script and its data meet: they reach the page as two components, for then Streamlit need not send the
// script again with other data (attnviz/ui/mount.py). Whichever the browser runs first makes the slot.

const slots = (globalThis.attnvizSlots ??= new Map());

function slotOf(name) {
  if (!slots.has(name)) {
    const slot = { isFilled: false };
    slot.widget = new Promise((resolve) => (slot.resolve = resolve));
    slots.set(name, slot);
  }
  return slots.get(name);
}

// Called once for each place that the widget has in the page. `load` runs once, and returns how the widget is drawn.
export function deliver(name, style, load) {
  const slot = slotOf(name);
  if (slot.isFilled) return;
  slot.isFilled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  slot.resolve({ sheet, draw: load() });
}

// The default export of the component that has the data.
export const drawing = (name) => async (component) => {
  const { sheet, draw } = await slotOf(name).widget;
  const root = component.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  draw(component);
};
