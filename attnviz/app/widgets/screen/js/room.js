// How high a picture may be on a phone, between a lesson's line at the top and what answers it at the foot of the window
// (`--picture-room`, for the pictures that ask for it). Not set where nothing stands at the foot.

import { whileThere } from "./listening.js";

const LINE = ".lesson-line";
const FORM = ".st-key-lesson-form";
const FRAME = 146; // pixels: the line for menu and bar, the picture's title, and what is left between them
const LEAST = 150;

export function watchRoom({ parts: { line } }) {
  const sizes = new ResizeObserver(tell);
  const look = () => {
    for (const node of document.querySelectorAll(`${LINE}, ${FORM}`)) sizes.observe(node);
    tell();
  };
  const watcher = new MutationObserver(() => (line.isConnected ? look() : leave()));
  const leave = () => [watcher, sizes].forEach((one) => one.disconnect());
  watcher.observe(document.body, { childList: true, subtree: true });
  whileThere(line, "resize", tell, window);
  look();
}

function tell() {
  const [line, form] = [LINE, FORM].map((name) => document.querySelector(name));
  const { style } = document.documentElement;
  const isThere = line && form && getComputedStyle(form).position === "fixed";
  if (!isThere) return style.removeProperty("--picture-room");
  const room = Math.max(LEAST, innerHeight - line.offsetHeight - form.offsetHeight - FRAME);
  style.setProperty("--picture-room", `${room}px`);
}
