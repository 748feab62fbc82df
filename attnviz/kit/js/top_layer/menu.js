// A menu below its button, in the browser's top layer: neither a notebook's cell nor a small frame cuts it off there.

import { whileAttached } from "../attached.js";
import { magnified } from "../resize.js";

const EDGE = 8; // of the window
const GAP = 4; // between button and list

const listOf = (menu) => menu.querySelector(":scope > .menu-list");

// `menu` is a <details> whose list has the class menu-list.
export function liftMenu(app, menu) {
  listOf(menu).popover = "manual";
  menu.addEventListener("toggle", () => showMenu(menu));
  whileAttached(app, (signal) => {
    const follow = () => menu.open && placeList(menu);
    document.addEventListener("scroll", follow, { capture: true, passive: true, signal });
    window.addEventListener("resize", follow, { signal });
  });
}

// Shows the list of a menu that is open, and hides that of one that is not. The browser says a moment late that a menu was
// opened: a script that opens one, to focus something in it, calls this itself.
export function showMenu(menu) {
  const list = listOf(menu);
  const isShown = list.matches(":popover-open");
  if (menu.open && menu.isConnected) {
    if (!isShown) list.showPopover();
    placeList(menu);
  } else if (isShown) list.hidePopover();
}

// Below the button and ending where it ends, or above it where there is no room; inside the window in either case. What is
// in the top layer has the window's pixels, and is magnified by its style.
function placeList(menu) {
  const { top, bottom, right } = menu.querySelector("summary").getBoundingClientRect();
  const list = listOf(menu);
  const [width, height] = [list.offsetWidth, list.offsetHeight].map((length) => length * magnified());
  const isBelow = bottom + GAP + height <= innerHeight - EDGE;
  list.style.left = `${Math.max(EDGE, Math.min(right - width, innerWidth - width - EDGE))}px`;
  list.style.top = `${isBelow ? bottom + GAP : Math.max(EDGE, top - GAP - height)}px`;
}
