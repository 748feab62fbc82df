// The definition of a term on a control, from assets/terms: under the pointer, at the
// keyboard's focus, and for a finger that rests on it or taps a term that is no control. A widget that
// does not call `watchDefinitions` is explained by the page (widgets/definitions).

import { HOLDING, RESTING, addLink, closeBubble, createWait, isIn, leave, openBubble, scrolled } from "./bubble.js";
import { hearPage } from "./attached.js";
import { element } from "./elements.js";
import { DEFINITIONS } from "./terms.js";

export const definitionOf = (term) => DEFINITIONS[term.toLowerCase()];

// `key` is the key that does the same, `more` a sentence about it here. Screen readers read it after the name.
export function explained(node, term, key = "", more = "") {
  node.dataset.term = term;
  if (key) node.dataset.key = key;
  if (more) node.dataset.more = more;
  const control = node.querySelector("select") ?? node;
  control.setAttribute("aria-description", [definitionOf(term), more, key && `Key: ${key}.`].filter(Boolean).join(" "));
  return node;
}

// A word that is no control, and can be asked all the same.
export const termNode = (text, term = text, more = "") =>
  explained(element("span", { class: "term", tabindex: "0", text }), term, "", more);

// The term, and what is chosen in its list: [name, definition, key].
function meaningsAt(node) {
  const chosen = node.querySelector("select")?.selectedOptions[0]?.textContent;
  return [node.dataset.term, chosen]
    .filter((term) => term && definitionOf(term))
    .map((term, at) => [
      term,
      [definitionOf(term), !at && node.dataset.more].filter(Boolean).join(" "),
      at ? "" : (node.dataset.key ?? ""),
    ]);
}

const MODIFIERS = ["Alt", "Control", "Meta", "Shift"]; // by themselves they ask for nothing

export function watchDefinitions(app) {
  const { root } = app;
  const tip = element("div", { class: "definition", role: "tooltip", popover: "manual" });
  root.append(tip);
  app.parts.definition = tip;
  const wait = createWait();
  const termAt = (event) => event.target.closest?.("[data-term]") ?? null;
  let anchor = null; // the term that has the keyboard or was tapped, while it is explained
  const close = () => {
    wait.forget();
    anchor = null;
    closeBubble(tip);
  };
  const ask = (node, milliseconds) => {
    anchor = null;
    wait.soon(node, milliseconds, () => showDefinition(app, node));
  };
  const pointed = (event) => {
    if (isIn(tip, event)) return wait.forget();
    const node = termAt(event);
    if (node) ask(node, RESTING);
    else leave(tip, wait, close);
  };
  const touched = (event) => {
    if (!event.target.matches(".term, [role=note]")) return termAt(event) && ask(termAt(event), HOLDING);
    showDefinition(app, (anchor = event.target));
  };
  root.addEventListener("pointerover", (event) => event.pointerType !== "touch" && pointed(event));
  root.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && leave(tip, wait, close)); // a finger that is up
  root.addEventListener("focusin", (event) => {
    if (!event.target.matches(":focus-visible")) return;
    close();
    if (termAt(event)) ask(termAt(event), 0);
    anchor = termAt(event);
  });
  root.addEventListener("focusout", (event) => !tip.contains(event.relatedTarget) && close());
  root.addEventListener("pointerdown", (event) => {
    if (event.target.closest?.(".definition a")) return;
    close();
    if (event.pointerType === "touch" && !isIn(tip, event)) touched(event);
  });
  root.addEventListener("pointercancel", close); // the finger scrolls
  root.addEventListener("pointerup", wait.forget);
  root.addEventListener("keydown", (event) => MODIFIERS.includes(event.key) || close());
  hearPage(app, { scroll: () => scrolled(tip, anchor) });
}

function showDefinition(app, node) {
  const tip = app.parts.definition;
  const meanings = node.isConnected ? meaningsAt(node) : [];
  if (!meanings.length) return closeBubble(tip);
  const line = ([term, text, key]) =>
    element(
      "p",
      {},
      element("b", { text: term }),
      ` ${text}`,
      key ? element("span", { class: "quiet", text: ` Key: ${key}` }) : "",
    );
  tip.replaceChildren(...meanings.map(line));
  addLink(
    tip,
    meanings.map(([term]) => term),
  );
  openBubble(tip, node);
}
