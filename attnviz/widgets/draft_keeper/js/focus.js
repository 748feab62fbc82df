// The keyboard's place in the draft editor. Streamlit makes a button anew where its look changes, and one that has nothing
// left to do cannot have the focus: it goes on in the new one, or in the step that is open.

const EDITOR = ".st-key-draft";
const OPEN = "[class*='st-key-draft-open-'] [data-testid='stBaseButton-primary']";

export function keepFocus(isNeeded) {
  let last = null; // { node, key }: where the focus was
  document.addEventListener("focusin", ({ target }) => (last = place(target)));
  new MutationObserver(() => {
    if (!isNeeded()) return;
    const open = document.querySelector(OPEN);
    if (open && !open.hasAttribute("aria-current")) open.setAttribute("aria-current", "step");
    if (isLost(last)) (again(last.key) ?? open)?.focus({ preventScroll: true });
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
}

const keyOf = (node) => [...(node?.classList ?? [])].find((name) => name.startsWith("st-key-draft-"));

function place(node) {
  const key = node.tagName === "BUTTON" && node.closest(EDITOR) && keyOf(node.closest("[class*='st-key-draft-']"));
  return key ? { node, key } : null;
}

const isLost = (last) =>
  last !== null &&
  [document.body, last.node].includes(document.activeElement) &&
  (!last.node.isConnected || last.node.disabled);

const again = (key) => document.querySelector(`${EDITOR} .${key} button:enabled`);
