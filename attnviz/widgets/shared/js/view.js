// What is in view. The browser's own choice holds; Python hears of it a moment later and may hand in another (a link,
// Back). A component brings START (its view at first) and `settle(app)`, which keeps the view within what there is.

const SETTLE_MS = 250;

function adopt(app) {
  const { seq = 0, ...view } = app.payload.header.view;
  // A payload that was asked for before the visitor's newest choice does not undo that choice.
  // What Python says nothing of stays as it is.
  if (!app.view || seq >= app.seq) app.view = { ...START, ...app.view, ...view };
  app.seq = Math.max(app.seq, seq);
  settle(app);
}

function report(app) {
  clearTimeout(app.timer);
  app.send("view", { ...app.view, seq: app.seq });
}

function reportSoon(app, wait = SETTLE_MS) {
  clearTimeout(app.timer);
  app.timer = setTimeout(() => report(app), wait);
}
