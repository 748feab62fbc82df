// The bubble that shows a definition: when it opens, where, and when it goes. Its look is shared/css/definitions.css.

export const RESTING = 350;
export const HOLDING = 450; // and a finger, which else presses

// Below the node, or above it where there is no room; inside the window in either case.
export function openBubble(bubble, node) {
  bubble.showPopover();
  const { left, top, bottom } = node.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = bubble;
  const below = bottom + 6 + height <= innerHeight;
  bubble.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  bubble.style.top = `${below ? bottom + 6 : Math.max(8, top - height - 6)}px`;
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
