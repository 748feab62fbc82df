// One bubble for the whole page. The page's own elements come and go, so that the document is watched and not they.

import {
  HOLDING,
  RESTING,
  addLink,
  closeBubble,
  createWait,
  hasLink,
  isIn,
  isOver,
  leave,
  openBubble,
  scrolled,
} from "../../../kit/js/bubble.js";
import { attach, detach, hearPage } from "../../../kit/js/attached.js";
import { KEY, elsewhere, followed, linkNode, readPlaces, saidOf } from "./places.js";

const LABEL = "[data-testid=stWidgetLabel]";
const FIELD = "[data-testid=stElementContainer]";
const CONTROL = "button, summary, [role=option]";
const NAMED = `${CONTROL}, [data-term], ${LABEL}`;
const MODIFIERS = ["Alt", "Control", "Meta", "Shift"]; // by themselves they ask for nothing

export default function ({ parentElement, data, setTriggerValue }) {
  const bubble = parentElement.querySelector(".definitions");
  const isNew = !bubble.attnviz;
  const app = (bubble.attnviz ??= watch(bubble));
  attach(app);
  Object.assign(app, { words: data.words, places: readPlaces(data.places) });
  bubble.dataset.hears = ""; // from now on a word that is pointed at is explained
  app.send = (word) => setTriggerValue("go", { word });
  if (isNew && focused()) show(app, atFocus(app, ""), true); // the key may have come before this script
  return () => detach(app);
}

function watch(bubble) {
  const app = { bubble, words: {}, wait: createWait(), target: null, area: null, link: null, stays: false, begins: [] };
  const at = (event) => named(app, event.composedPath()[0]);
  // Not pointerover: inside a component's own tree it never reaches the document. Nor does focusin always: a key's end does.
  hearPage(app, {
    pointermove: (event) => event.pointerType !== "touch" && pointed(app, event, at(event)),
    pointerdown: (event) => pressed(app, event, at(event)),
    pointerup: () => app.wait.forget(), // a finger that only taps
    pointercancel: () => hide(app), // the finger scrolls
    focusin: () => focused() && show(app, named(app, focused()), true), // a finger's focus shows nothing, and takes nothing away
    keydown: (event) => event.key === "Enter" && event.altKey && byKey(app, event),
    keyup: (event) => released(app, event.key),
    click: (event) => fromList(app, event),
    scroll: () => (app.stays ? scrolled(bubble, app.area) : hide(app)),
    "attnviz-explained": ({ detail }) => offer(app, detail),
  });
  return app;
}

function released(app, key) {
  if (key === "Escape") hide(app);
  else if (!MODIFIERS.includes(key)) show(app, atFocus(app, key), true);
}

// A widget's bubble has its link from here, too: only the page knows its places.
function offer(app, { words, add }) {
  const place = elsewhere(app.places, words);
  app.link = place && linkNode(place, (word) => follow(app, word));
  if (place) add(app.link);
}

function byKey(app, event) {
  if (!app.link?.closest(":popover-open")) return;
  event.preventDefault();
  event.stopPropagation();
  app.link.click();
}

// The list of all words, in the sheet of the model's drawing.
function fromList(app, event) {
  const word = event.target.closest?.("a[data-try]")?.dataset.try;
  if (word) followed(event, () => follow(app, word));
}

function follow(app, word) {
  focused()?.blur(); // what was typed into a field goes along
  hide(app);
  app.send(word);
}

// The node that has the keyboard, where that shows; it may be inside a component's own tree.
function focused() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element?.matches(":focus-visible") ? element : null;
}

// A field is explained when the Tab key comes to it, not while something is typed into it.
function atFocus(app, key) {
  const element = focused();
  const label = key === "Tab" && element?.closest(FIELD)?.querySelector(LABEL);
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

function pointed(app, event, found) {
  const isAround = hasLink(app.bubble) && (isOver(app.bubble, event) || isIn(app.area, event));
  if (isAround || (found && found.element === app.target)) return app.wait.forget();
  if (!found) return leave(app.bubble, app.wait, () => hide(app));
  if (!hasLink(app.bubble)) hide(app);
  app.wait.soon(found.element, RESTING, () => show(app, found));
}

// A finger that taps a control presses it; one that rests on it asks.
function pressed(app, event, found) {
  if (event.composedPath()[0].closest?.(".definition a")) return;
  hide(app);
  if (event.pointerType !== "touch" || !found) return;
  if (found.element.matches(CONTROL)) app.wait.soon(found.element, HOLDING, () => show(app, found));
  else show(app, found, true);
}

function show(app, found, stays = false) {
  hide(app);
  if (!found?.element.isConnected) return;
  const { bubble, words } = app;
  const meaning = document.createElement("p");
  meaning.textContent = words[found.word];
  bubble.replaceChildren(meaning);
  app.stays = stays;
  app.target = found.element;
  app.area = areaOf(found.element);
  app.link = null;
  if (!leadsThere(app, found)) addLink(bubble, [found.word]);
  found.element.setAttribute("aria-description", described(app, found.word));
  openBubble(bubble, app.area);
}

// The box that the bubble must not cover: a label's field, which the pointer may be on its way to.
const areaOf = (element) => (element.matches(LABEL) && element.closest(FIELD)) || element;

// A tab's own button needs no link to its tab.
const leadsThere = ({ places }, { element, word }) =>
  element.matches(CONTROL) && places.byTerm.get(word.toLowerCase())?.title === word;

function described({ words, places, link }, word) {
  const place = link && elsewhere(places, [word]);
  return place ? `${words[word]} ${KEY}: ${saidOf(place)}.` : words[word];
}

function hide(app) {
  app.wait.forget();
  Object.assign(app, { target: null, area: null, stays: false });
  closeBubble(app.bubble);
}
