// One bubble for the whole page. The page's own elements come and go, so that the document is watched and not they.

const WAIT_MS = 350; // a pointer that only passes opens nothing
const NAMED = "button, summary, [role=option], [data-term]"; // labels have Streamlit's own question mark

export default function ({ parentElement, data }) {
  const bubble = parentElement.querySelector(".definitions");
  const watched = (bubble.attnviz ??= watch(bubble));
  watched.words = data.words;
}

function watch(bubble) {
  const app = { bubble, words: {}, timer: null, target: null, waiting: null };
  // Not pointerover and focusin: inside a component's own tree they never reach the document.
  const heard = {
    pointermove: (event) => event.pointerType !== "touch" && soon(app, named(app, event.composedPath()[0])),
    pointerdown: (event) => (event.pointerType === "touch" ? show(app, named(app, event.composedPath()[0])) : hide(app)),
    keyup: (event) => (event.key === "Escape" ? hide(app) : show(app, named(app, focused()))),
    scroll: () => hide(app),
  };
  for (const [name, act] of Object.entries(heard)) {
    const listener = (event) => {
      // On another page nobody is there to explain: the listener leaves with its bubble.
      if (!bubble.isConnected) return document.removeEventListener(name, listener, true);
      act(event);
    };
    document.addEventListener(name, listener, { capture: true, passive: true });
  }
  return app;
}

// What has the keyboard, where it shows; it may lie inside a component's own tree.
function focused() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element?.matches(":focus-visible") ? element : null;
}

// The element around this one whose word is known.
function named({ words }, inner) {
  const element = inner?.closest?.(NAMED);
  // A component that explains its terms by itself has a bubble of its own.
  if (element?.dataset.term && element.getRootNode().querySelector(".definition")) return null;
  const word = element && (element.dataset.term ?? element.textContent.trim());
  return word && Object.hasOwn(words, word) ? { element, word } : null;
}

function soon(app, found) {
  if (found?.element === app.target || found?.element === app.waiting) return;
  hide(app);
  app.waiting = found?.element;
  if (found) app.timer = setTimeout(() => show(app, found), WAIT_MS);
}

function show(app, found) {
  hide(app);
  if (!found?.element.isConnected) return;
  const { bubble, words } = app;
  bubble.textContent = words[found.word];
  found.element.setAttribute("aria-description", words[found.word]);
  app.target = found.element;
  bubble.showPopover();
  place(bubble, found.element.getBoundingClientRect());
}

function place(bubble, { left, top, bottom }) {
  const { offsetWidth: width, offsetHeight: height } = bubble;
  const below = bottom + 6 + height <= innerHeight;
  bubble.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  bubble.style.top = `${below ? bottom + 6 : Math.max(8, top - height - 6)}px`;
}

function hide(app) {
  clearTimeout(app.timer);
  app.target = app.waiting = null;
  if (app.bubble.matches(":popover-open")) app.bubble.hidePopover();
}
