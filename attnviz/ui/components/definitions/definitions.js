// One bubble for the whole page. The page's own elements come and go, so that the document is watched and not they.

const WAIT_MS = 350; // a pointer that only passes opens nothing
const NAMED = "button, summary, [role=option], [data-term], [data-testid=stWidgetLabel]";

export default function ({ parentElement, data }) {
  const bubble = parentElement.querySelector(".definitions");
  const watched = (bubble.attnviz ??= watch(bubble));
  watched.words = data.words;
}

function watch(bubble) {
  const app = { bubble, words: {}, timer: null, target: null };
  const heard = {
    pointerover: (event) => event.pointerType !== "touch" && soon(app, namedBy(app, event)),
    pointerdown: (event) => (event.pointerType === "touch" ? show(app, namedBy(app, event)) : hide(app)),
    focusin: (event) => event.composedPath()[0].matches?.(":focus-visible") && show(app, namedBy(app, event)),
    focusout: () => hide(app),
    keydown: (event) => event.key === "Escape" && hide(app),
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

// The element that the event is about, where its word is known. The path leads into our components' own trees.
function namedBy({ words }, event) {
  const element = event.composedPath()[0].closest?.(NAMED);
  const word = element && (element.dataset.term ?? element.textContent.trim());
  return word && Object.hasOwn(words, word) ? { element, word } : null;
}

function soon(app, found) {
  if (found?.element === app.target) return;
  hide(app);
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
  app.target = null;
  if (app.bubble.matches(":popover-open")) app.bubble.hidePopover();
}
