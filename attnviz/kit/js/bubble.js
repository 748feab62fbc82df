// The bubble that shows a definition: when it opens, where, and when it goes. Its look is kit/css/definitions.css.

export const RESTING = 350;
export const HOLDING = 450; // and a finger, which else presses
const LEAVING = 300; // a bubble with a link waits for the pointer that is on its way into it

export const isIn = (bubble, event) => event.composedPath().includes(bubble);
// A bubble that the pointer sees through still has it above itself.
export function isOver(bubble, { clientX: x, clientY: y }) {
  const { left, right, top, bottom } = bubble.getBoundingClientRect();
  return left <= x && x <= right && top <= y && y <= bottom;
}

export const hasLink = (bubble) => bubble.matches(":popover-open") && bubble.querySelector("a") !== null;

// The next act of a bubble, one at a time. Asking for the same again does not postpone it.
export function createWait() {
  let timer = null;
  let awaited; // undefined where nothing is
  const forget = () => {
    clearTimeout(timer);
    awaited = undefined;
  };
  const soon = (what, milliseconds, act) => {
    if (what === awaited) return;
    forget();
    awaited = what;
    timer = setTimeout(() => {
      forget();
      act();
    }, milliseconds);
  };
  return { soon, forget };
}

// The pointer has gone from the word; one with a link is closed a moment later.
export function leave(bubble, wait, close) {
  if (hasLink(bubble)) return wait.soon(null, LEAVING, close);
  wait.forget();
  close();
}

// Asks the page for the link to where one of these terms is tried, where the bubble stands on one that knows.
export function addLink(bubble, words) {
  const add = (link) => bubble.append(link);
  bubble.dispatchEvent(new CustomEvent("attnviz-explained", { bubbles: true, composed: true, detail: { words, add } }));
}

export function openBubble(bubble, node) {
  bubble.showPopover();
  bubble.style.visibility = "";
  placeBubble(bubble, node);
}

// Below the node, or above it where there is no room; inside the window in either case.
function placeBubble(bubble, node) {
  const { left, top, bottom } = node.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = bubble;
  const below = bottom + 6 + height <= innerHeight;
  bubble.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  bubble.style.top = `${below ? bottom + 6 : Math.max(8, top - height - 6)}px`;
}

// Under the pointer the page moves on. What has the keyboard or was tapped keeps its bubble, unseen while it is out of
// view itself: the browser scrolls to it on its own, and may say so late. A finger that scrolls closes it by its touch.
export function scrolled(bubble, node) {
  if (!node || !bubble.matches(":popover-open")) return closeBubble(bubble);
  const { top, bottom } = node.getBoundingClientRect();
  bubble.style.visibility = bottom < 0 || top > innerHeight ? "hidden" : "";
  placeBubble(bubble, node);
}

export function closeBubble(bubble) {
  if (bubble.matches(":popover-open")) bubble.hidePopover();
}
