// Keys belong to what is written in, and to a dialog that is open.

const WRITES =
  "input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable], [role=combobox]";

export const isWriting = (event) =>
  event.ctrlKey || event.metaKey || event.altKey || Boolean(event.composedPath()[0].matches?.(WRITES));
