// One bubble for the whole page. The page's own elements come and go, so that the document is watched and not they.

import { HOLDING, RESTING, closeBubble, hearPage, openBubble, scrolled } from "../shared/js/bubble.js";

const LABEL = "[data-testid=stWidgetLabel]";
const CONTROL = "button, summary, [role=option]";
const NAMED = `${CONTROL}, [data-term], ${LABEL}`;

// What draws it, for words that go with the script.
export function explaining(words) {
  return ({ parentElement }) => {
    const bubble = parentElement.querySelector(".definitions");
    const watched = (bubble.attnviz ??= watch(bubble));
    watched.words = words;
  };
}

function watch(bubble) {
  const app = { bubble, words: {}, timer: null, target: null, waiting: null, stays: false };
  const at = (event) => named(app, event.composedPath()[0]);
  // Not pointerover: inside a component's own tree it never reaches the document. Nor does focusin always: a key's end does.
  hearPage(bubble, {
    pointermove: (event) => event.pointerType !== "touch" && soon(app, at(event), RESTING),
    pointerdown: (event) => (event.pointerType === "touch" ? touched(app, at(event)) : hide(app)),
    pointerup: () => forget(app), // a finger that only taps
    pointercancel: () => hide(app), // the finger scrolls
    focusin: () => focused() && show(app, named(app, focused()), true), // a finger's focus shows nothing, and takes nothing away
    keyup: (event) => (event.key === "Escape" ? hide(app) : show(app, atFocus(app, event.key), true)),
    scroll: () => (app.stays ? scrolled(bubble, app.target) : hide(app)),
  });
  return app;
}

// What has the keyboard, where it shows; it may be inside a component's own tree.
function focused() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element?.matches(":focus-visible") ? element : null;
}

// A field is explained when the Tab key comes to it, not while something is typed into it.
function atFocus(app, key) {
  const element = focused();
  const label = key === "Tab" && element?.closest("[data-testid=stElementContainer]")?.querySelector(LABEL);
  const { word } = (label && named(app, label)) || {};
  return named(app, element) ?? (word ? { element, word } : null);
}

// The element around this one whose word is known.
function named({ words }, inner) {
  if (inner?.closest?.("[data-testid=stTooltipIcon]")) return null; // Streamlit's question mark has its own words
  const element = inner?.closest?.(NAMED);
  // A component that explains its terms by itself has a bubble of its own.
  if (element?.dataset.term && element.getRootNode().querySelector(".definition")) return null;
  const text = element && (element.dataset.term ?? element.textContent.trim());
  const word = text && [text, text.split(" (")[0]].find((known) => Object.hasOwn(words, known));
  return word ? { element, word } : null;
}

// A finger that taps a control presses it; one that rests on it asks.
function touched(app, found) {
  if (found?.element.matches(CONTROL)) soon(app, found, HOLDING);
  else show(app, found, true);
}

function soon(app, found, wait) {
  if (found?.element === app.target || found?.element === app.waiting) return;
  hide(app);
  app.waiting = found?.element;
  if (found) app.timer = setTimeout(() => show(app, found), wait);
}

function show(app, found, stays = false) {
  hide(app);
  if (!found?.element.isConnected) return;
  app.stays = stays;
  const { bubble, words } = app;
  bubble.textContent = words[found.word];
  found.element.setAttribute("aria-description", words[found.word]);
  app.target = found.element;
  openBubble(bubble, found.element);
}

function hide(app) {
  forget(app);
  app.target = null;
  app.stays = false;
  closeBubble(app.bubble);
}

function forget(app) {
  clearTimeout(app.timer);
  app.waiting = null;
}
