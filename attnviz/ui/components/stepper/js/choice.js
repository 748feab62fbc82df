// What is in view: the step, and the head whose rows are drawn. The browser's own choice holds; Python hears of it later.

const SETTLE_MS = 250;

function adopt(app) {
  const { seq = 0, ...view } = app.payload.header.view;
  if (!app.view || seq >= app.seq) app.view = { ...view };
  app.seq = Math.max(app.seq, seq);
  const last = app.payload.header.steps.length - 1;
  app.view.step = Math.min(Math.max(0, app.view.step), last);
}

function change(app, patch) {
  const began = performance.now();
  Object.assign(app.view, patch);
  app.seq += 1;
  paint(app, began);
  clearTimeout(app.timer);
  // While it plays, every step would be a run of the page: Python hears where it stops.
  if (!app.playing) app.timer = setTimeout(() => report(app), isWaiting(app) ? 0 : SETTLE_MS);
}

const isWaiting = (app) => app.payload.kinds.some((kind) => !mapOf(kind, app.view.layer, app.view.head));
const report = (app) => app.send({ ...app.view, seq: app.seq });

function goTo(app, step) {
  const last = app.payload.header.steps.length - 1;
  const wanted = Math.min(Math.max(0, step), last);
  if (wanted !== app.view.step) change(app, { step: wanted });
}
