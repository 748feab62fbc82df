// A tab from its first moment on: built, handed data, fitted into the window.

const LEAST_HEIGHT = 430; // below this height the page scrolls

function start(root) {
  const app = { root, seq: 0, parts: {} };
  buildShell(app);
  app.parts.live = liveRegion();
  root.append(app.parts.live);
  watchDefinitions(app);
  watchSize(app, root);
  return app;
}

function receive(app, data) {
  const began = performance.now();
  const payload = decodePayload(data);
  const before = app.payload?.header;
  if (before?.id === payload.header.id) app.payload.header.view = payload.header.view;
  else app.payload = payload;
  readTheme(app);
  adopt(app);
  fit(app);
  paint(app, began);
  refitSoon(app);
}

function fit(app) {
  const [width, height] = fillWindow(app.root, LEAST_HEIGHT);
  const size = `${width}x${height}`;
  const changed = app.size !== size;
  app.size = size;
  return changed && width > 0;
}
