// The bubble that shows a definition: when it opens, where, and when it goes. Its look is shared/css/definitions.css.

export const RESTING = 350;
export const HOLDING = 450; // and a finger, which else presses

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

// Hears the document's events as long as the bubble is in it: a page that is left takes its bubble along.
export function hearPage(bubble, heard) {
  for (const [name, act] of Object.entries(heard)) {
    const listener = (event) => {
      if (bubble.isConnected) act(event);
      else document.removeEventListener(name, listener, true);
    };
    document.addEventListener(name, listener, { capture: true, passive: true });
  }
}
