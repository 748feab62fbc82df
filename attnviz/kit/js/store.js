// The view of a widget, and the one way to change it: change(patch) → settle → paint → report. The browser's own choice
// holds; Python hears of it a moment later and may send another (a link, Back).
//
// A widget's main.js names its parts, so that callers of `change` need not know the painters:
//   start        its view at first, where the first payload does not hold all of it
//   settle       `(app)`: keeps a choice within the model and the text, where another payload may have less
//   fit          `(app)`: measures its place in the page; true when that has another size now
//   paint        `(app, began)`: draws all of it
//   reportAfter  `(app, patch)`: milliseconds until Python hears of a change, or null where it hears nothing yet
//   siteOf       `(app)`: kind, layer and head in words, for the caption of a saved picture
//   isWhole      `(app)`: whether the browser has all that its controls ask for, if that is not always so

export const SETTLE_MS = 250; // until a choice counts as made: a held arrow key passes many heads

export const createApp = (root, widget, state = {}) => ({
  root,
  widget,
  seq: 0,
  parts: {},
  begins: [],
  lacks: new Set(),
  ...state,
});

export function change(app, asked) {
  const patch = answered(app, asked);
  if (!Object.keys(patch).length) return;
  const began = performance.now();
  Object.assign(app.view, patch);
  app.seq += 1;
  app.widget.settle?.(app);
  app.widget.paint(app, began);
  reportSoon(app, app.widget.reportAfter(app, patch));
}

// Without the choices that need Python, where there is none: their controls are hidden (`data-control`), but keys may
// ask for them.
export const answered = ({ lacks }, patch) =>
  Object.fromEntries(Object.entries(patch).filter(([name]) => !lacks.has(name)));

// Takes what there is to draw, and the view that came beside it, if any; leaves out the controls that need
// Python where there is none.
export function take(app, payload, viewBeside = null) {
  app.payload = { ...payload, viewBeside };
  app.lacks = new Set([...(payload.header.lacks ?? []), ...app.host.lacks]);
  if (!app.parts.lacking) app.root.append((app.parts.lacking = document.createElement("style")));
  const controls = [...app.lacks].map((name) => `[data-control="${CSS.escape(name)}"]`);
  app.parts.lacking.textContent = controls.length ? `${controls.join()} { display: none !important }` : "";
}

// Takes the view that Python sent with the numbers, or beside them. One that was asked for before the visitor's newest choice
// does not undo that choice; fields that Python does not send stay as they are.
export function adopt(app) {
  const { header, viewBeside } = app.payload;
  const { seq = 0, ...view } = viewBeside
    ? { ...(!app.view && header.view), seq: app.seq, ...viewBeside }
    : header.view;
  if (!app.view || seq >= app.seq) app.view = { ...app.widget.start, ...app.view, ...view };
  app.seq = Math.max(app.seq, seq);
  app.widget.settle?.(app);
}

export function report(app) {
  clearTimeout(app.timer);
  app.host.report("view", { ...app.view, seq: app.seq });
}

export function reportSoon(app, wait = SETTLE_MS) {
  clearTimeout(app.timer);
  if (wait !== null) app.timer = setTimeout(() => report(app), wait);
}
