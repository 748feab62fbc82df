// Streamlit calls the default export for each place in the page, and again on the same place whenever data or theme
// change.

const RESERVE = 44,
  LEAST_HEIGHT = 430; // room for the status bar below; below the least height the page scrolls

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".avz");
  if (!root || !data) return;
  const app = (root.attnviz ??= start(root));
  app.send = (view) => setStateValue("view", view);
  receive(app, data);
}

function start(root) {
  const app = { root, seq: 0, parts: {} };
  buildShell(app);
  app.parts.live = element("div", { class: "live", "aria-live": "polite", role: "status" });
  root.append(app.parts.live);
  const look = () => {
    if (app.payload && root.isConnected && fitHeight(app)) paint(app, performance.now());
  };
  new ResizeObserver(look).observe(root);
  // The height of the window is not the component's own, and no observer of an element tells of it.
  window.removeEventListener("resize", window.attnvizTabResize);
  window.attnvizTabResize = look;
  window.addEventListener("resize", look);
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
  fitHeight(app);
  paint(app, began);
  // What stands above may still be moving into its place.
  for (const wait of [60, 350, 1200])
    setTimeout(() => {
      if (fitHeight(app)) paint(app, performance.now());
    }, wait);
}

function painted(app, began) {
  app.root.dataset.attnvizMs = (performance.now() - began).toFixed(2);
  app.root.dataset.attnvizView = JSON.stringify({ ...app.view, seq: app.seq });
  app.root.dataset.attnvizPainted = app.payload.header.id;
}

// As high as leaves the page without a scroll bar on a wide screen; on a phone the panes stack and the page scrolls.
function fitHeight(app) {
  const { root } = app;
  const width = root.clientWidth;
  root.dataset.size = width < 760 ? "phone" : width < 1060 ? "middle" : "wide";
  let top = root.getBoundingClientRect().top;
  for (let node = root; node; node = node.parentElement ?? node.getRootNode().host) top += node.scrollTop || 0;
  const height = Math.max(LEAST_HEIGHT, Math.floor(innerHeight - top - RESERVE));
  root.style.height = root.dataset.size === "phone" ? "" : `${height}px`;
  const size = `${width}x${height}`;
  const changed = app.size !== size;
  app.size = size;
  return changed && width > 0;
}
