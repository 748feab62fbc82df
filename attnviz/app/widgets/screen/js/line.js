// The line that stands for menu and bar on a narrow screen: each opens below its button, one at a time, and goes again
// with a choice made in it, with Esc, or with a press elsewhere, once that press has done what it does. What they look
// like is assets/styles/screen.css.

import { railLinks } from "../../../../kit/js/rail.js";
import { whileThere } from "./listening.js";

const page = document.documentElement;
const PARTS = {
  menu: {
    selector: "[data-testid=stSidebar]",
    first: () => railLinks()[0],
  },
  bar: {
    selector: ".st-key-top-bar",
    first: () => document.querySelector(".st-key-top-bar")?.querySelector("input, textarea, button"),
  },
};

export function watchLine(app) {
  const { line, menu, fold, run } = app.parts;
  const buttons = { menu, bar: fold };
  const set = (opened) => {
    for (const [name, button] of Object.entries(buttons)) {
      page.toggleAttribute(`data-${name}-open`, name === opened);
      button.setAttribute("aria-expanded", String(name === opened));
    }
    if (opened) reach(opened);
  };
  const openNow = () => Object.keys(buttons).find((name) => page.hasAttribute(`data-${name}-open`)) ?? null;
  for (const [name, button] of Object.entries(buttons)) button.onclick = () => set(openNow() === name ? null : name);
  run.onclick = () => {
    set(null);
    document.querySelector(".st-key-run button")?.click();
  };
  watchPage(line, { set, openNow, buttons });
  set(null);
}

// `runs`: whether the page runs a sentence.
export function sayLine({ parts: { fold, run } }, { summary, runs }) {
  fold.firstElementChild.textContent = summary;
  fold.setAttribute("aria-label", `Bar: ${summary}`);
  run.hidden = !runs;
}

// The keyboard goes on in what has opened. It is shown by a style: only in the next frame can it have the focus.
function reach(name) {
  requestAnimationFrame(() => PARTS[name].first()?.focus({ preventScroll: true }));
}

function watchPage(line, { set, openNow, buttons }) {
  let isElsewhere = false;
  whileThere(line, "pointerdown", (event) => {
    const name = openNow();
    const path = event.composedPath();
    const isOver = (node) => node instanceof Element && node.matches("[data-baseweb], [role=dialog], [role=listbox]");
    const isInside = path.includes(line) || path.some(isOver); // a list of Streamlit's opens outside the bar
    isElsewhere = Boolean(name) && !isInside && !path.includes(document.querySelector(PARTS[name].selector));
  });
  whileThere(line, "click", (event) => {
    // The page below moves up when the bar goes: only after the click, or the finger would hit something else.
    if (isElsewhere) setTimeout(() => set(null));
    isElsewhere = false;
    if (openNow() === "menu" && event.target.matches("[data-rail]") && event.composedPath()[0].closest("a")) set(null);
  });
  whileThere(line, "keydown", (event) => {
    const name = openNow();
    if (!name) return;
    if (event.key === "Escape") {
      set(null);
      buttons[name].focus();
    }
    // Enter in a sentence runs it: the picture is what comes next.
    if (event.key === "Enter" && event.target.matches?.(".st-key-top-bar input[type=text]:not([role=combobox])"))
      setTimeout(() => set(null));
  });
}
