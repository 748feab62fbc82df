// Streamlit calls the default export for each place in the page, and again on the same place whenever data or theme change.

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".avz");
  if (!root || !data) return;
  const app = (root.attnviz ??= start(root));
  app.send = (view) => setStateValue("view", view);
  receive(app, data);
}

function start(root) {
  const app = { root, seq: 0, sizes: {}, playing: null };
  buildShell(app);
  return app;
}

function receive(app, data) {
  const began = performance.now();
  const payload = decodePayload(data);
  const before = app.payload?.header;
  if (before && before.id !== payload.header.id) { clearInterval(app.playing); app.playing = null; }
  app.payload = before?.id === payload.header.id ? { ...app.payload, header: payload.header } : payload;
  if (JSON.stringify(before?.view) !== JSON.stringify(payload.header.view) || before.id !== payload.header.id) adopt(app);
  readTheme(app);
  measure(app);
  paint(app, began);
}

function paint(app, began) {
  if (!app.payload || !app.sizes.map) return;
  paintMaps(app);
  paintPlayer(app);
  paintCandidates(app);
  paintTraining(app);
  app.parts.live.textContent = app.playing ? "" : mapsText(app);
  app.root.dataset.attnvizMs = (performance.now() - began).toFixed(2);
  app.root.dataset.attnvizPainted = app.payload.header.id;
  app.root.dataset.attnvizView = JSON.stringify({ ...app.view, seq: app.seq });
}

function measure(app) {
  const width = app.root.clientWidth;
  app.root.dataset.size = width < 760 ? "phone" : width < 1060 ? "middle" : "wide";
  const { mapBox } = app.parts, size = [mapBox.clientWidth, mapBox.clientHeight];
  const changed = JSON.stringify(size) !== JSON.stringify(app.sizes.map);
  if (size[0] > 0) app.sizes.map = size;
  return changed && size[0] > 0;
}
