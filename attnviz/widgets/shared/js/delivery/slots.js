// A widget's script and its data reach the page as two components (attnviz/ui/mount.py); they meet in a slot, which
// whichever of them the browser runs first makes.

const slots = (globalThis.attnvizSlots ??= new Map());

export function slotOf(name) {
  if (!slots.has(name)) {
    const slot = { isFilled: false };
    slot.widget = new Promise((resolve) => (slot.resolve = resolve));
    slots.set(name, slot);
  }
  return slots.get(name);
}

// The default export of the component that has the data.
export const drawing = (name) => async (component) => {
  const { sheet, draw } = await slotOf(name).widget;
  const root = component.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  draw(component);
};
