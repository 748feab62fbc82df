// The picture alone, as large as the window: by the key p, by the button beside "Copy link", by `present=1` in the address.
// A widget's picture fills the window (`data-presented` on its host); a page without one is shown whole, less its frame.
// assets/styles/present.css hides and magnifies, by two things that are set here: the
// attribute `data-present` ("picture" or "page") and the property `--magnified` of the document's element.

import { fitLettersSoon } from "./letters.js";
import { whileThere } from "./listening.js";
import { isWriting } from "./writes.js";

const page = document.documentElement;
// A letter of eleven pixels, the smallest in a picture, is 24 high on 1,920; a window that is low is magnified less.
const WIDTH = 872;
const HEIGHT = 400;
const OPEN_MENU = "details.menu[open]";

const fittingWindow = () => Math.max(1, Math.min(innerWidth / WIDTH, innerHeight / HEIGHT));

export function watchPresent(app) {
  const { line, leave } = app.parts;
  leave.onclick = () => choose(app, false);
  whileThere(line, "keydown", (event) => pressed(app, event), window);
  whileThere(line, "resize", () => app.isPresented && show(app), window);
  whileThere(line, "attnviz-present", () => choose(app, !app.isPresented));
  app.watcher = new MutationObserver(() => (line.isConnected ? show(app) : app.watcher.disconnect()));
  set(app, false); // the page before may have been left while it was presented
}

function pressed(app, event) {
  if (isWriting(event)) return;
  if (event.key === "Escape" && event.composedPath().some((node) => node.matches?.(OPEN_MENU))) return; // the menu's own
  const isToggle = event.key === "p";
  if (!isToggle && !(event.key === "Escape" && app.isPresented)) return;
  event.preventDefault();
  event.stopPropagation();
  choose(app, isToggle ? !app.isPresented : false);
}

// The browser's own choice holds; Python hears of it and puts it into the address.
function choose(app, isPresented) {
  app.seq += 1;
  set(app, isPresented);
  app.send({ on: isPresented, seq: app.seq });
}

// An answer that was asked for before the newest choice does not undo it.
export function receivePresent(app, { present, seq }) {
  if (seq < app.seq) return;
  app.seq = seq;
  if (present !== app.isPresented) set(app, present);
  else if (present) show(app);
}

function set(app, isPresented) {
  app.isPresented = isPresented;
  app.parts.line.hidden = app.parts.foot.hidden = isPresented;
  app.parts.leave.hidden = !isPresented;
  if (isPresented) {
    // A picture may come later, or another one in its place, or other words.
    app.watcher.observe(document.body, {
      childList: true,
      characterData: true,
      subtree: true,
      attributeFilter: ["data-picture"],
    });
    return show(app);
  }
  app.watcher.disconnect();
  if (!page.hasAttribute("data-present")) return;
  page.removeAttribute("data-present");
  page.style.removeProperty("--magnified");
  app.picture?.removeAttribute("data-presented");
  app.picture = null;
  dispatchEvent(new Event("resize")); // every widget is fitted again
}

const pictureOf = () => document.querySelector("[data-picture]");

function show(app) {
  const picture = pictureOf();
  const wanted = { kind: picture ? "picture" : "page", magnified: fittingWindow().toFixed(4) };
  fitLettersSoon();
  const isNew = app.picture !== picture || page.dataset.present !== wanted.kind;
  if (!isNew && page.style.getPropertyValue("--magnified") === wanted.magnified) return;
  if (app.picture !== picture) app.picture?.removeAttribute("data-presented");
  app.picture = picture;
  picture?.setAttribute("data-presented", "");
  page.dataset.present = wanted.kind;
  page.style.setProperty("--magnified", wanted.magnified);
  dispatchEvent(new Event("resize"));
  if (isNew) reach(picture);
}

// Arrow keys walk at once.
const reach = (picture) =>
  picture?.shadowRoot?.querySelector("[role=application], [lang=und]")?.focus({ preventScroll: true });
