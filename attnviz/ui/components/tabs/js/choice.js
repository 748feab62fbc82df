// What is in view. The browser's own choice holds; Python hears of it a moment later and may hand in another (a link,
// Back).

const SETTLE_MS = 250;

function adopt(app) {
  const { seq = 0, ...view } = app.payload.header.view;
  // A payload that was asked for before the visitor's newest choice does not undo that choice.
  if (!app.view || seq >= app.seq) app.view = { ...START, ...app.view, ...view };
  app.seq = Math.max(app.seq, seq);
  settle(app);
}

function change(app, patch) {
  const began = performance.now();
  Object.assign(app.view, patch);
  app.seq += 1;
  settle(app);
  paint(app, began);
  clearTimeout(app.timer);
  const urgent = AT_ONCE.some((name) => name in patch);
  app.timer = setTimeout(() => app.send({ ...app.view, seq: app.seq }), urgent ? 0 : SETTLE_MS);
}

const isIndex = (value, length) => Number.isInteger(value) && value >= 0 && value < length;
