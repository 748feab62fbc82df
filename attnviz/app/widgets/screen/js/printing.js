// The printed page is the one on the screen: a picture is drawn for the width that it has there, and no script runs
// that could draw it for paper. So a printed page is as wide as the window, and the browser fits it to the sheet: lying,
// where all of it has room on one, else upright.

import { whileThere } from "./listening.js";

const SHEET = Math.SQRT2; // its longer side to its shorter
const SPARE = 90; // pixels: in print the bar takes one row more
const IN_FLOW = "[data-testid=stMain], .st-key-lesson-panel"; // in print a lesson's panel is not beside the picture

export function watchPrinting({ parts: { line } }) {
  const style = document.createElement("style");
  const hear = (name, act) => whileThere(line, name, act, window);
  hear("beforeprint", () => {
    const parts = [...document.querySelectorAll(IN_FLOW)];
    const high = parts.reduce((sum, { scrollHeight }) => sum + scrollHeight, SPARE);
    const height = high * SHEET <= innerWidth ? innerWidth / SHEET : innerWidth * SHEET;
    style.textContent = `@page { size: ${innerWidth}px ${Math.floor(height)}px; margin: 0; }`;
    document.head.append(style);
  });
  hear("afterprint", () => style.remove());
}
