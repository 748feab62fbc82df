// Streamlit calls the default export for each place in the page, and again on the same place whenever data or theme
// change.

const RESERVE = 44,
  LEAST_HEIGHT = 470; // room for the status bar below; below the least height the page scrolls

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".avz");
  if (!root || !data) return;
  const app = (root.attnviz ??= start(root));
  app.send = (view) => setStateValue("view", view);
  receive(app, data);
}

function start(root) {
  const app = { root, seq: 0, maps: new Map(), sizes: {}, shaded: [] };
  buildShell(app);
  return app;
}

function receive(app, data) {
  const began = performance.now();
  const payload = decodePayload(data);
  const before = app.payload?.header;
  if (before?.base !== payload.header.base) {
    app.maps.clear();
    app.hover = null;
  }
  const isSame = before?.id === payload.header.id;
  app.payload = isSame ? app.payload : payload;
  if (
    !isSame ||
    before.view.seq !== payload.header.view.seq ||
    JSON.stringify(before.view) !== JSON.stringify(payload.header.view)
  ) {
    app.payload.header.view = payload.header.view;
    const zoomed = JSON.stringify(app.view?.zoom ?? null);
    adopt(app);
    const isOtherText = before && before.base !== payload.header.base;
    if (isOtherText && app.view.zoom && JSON.stringify(app.view.zoom) === zoomed) leaveZoom(app);
  }
  readTheme(app);
  fitHeight(app);
  paint(app, began);
  setTimeout(() => barNodes(app, 0, MOST_BARS), 400);
  // What stands above may still be moving into its place.
  for (const wait of [60, 350, 1200])
    setTimeout(() => {
      if (fitHeight(app)) paint(app, performance.now());
    }, wait);
}

// A zoom into another text's rows and columns means nothing; the address hears of it too.
function leaveZoom(app) {
  app.view.zoom = null;
  app.seq += 1;
  reportSoon(app);
}

function paint(app, began) {
  if (!app.payload || !app.sizes.map) return;
  rememberSite(app);
  paintFocus(app);
  paintOverview(app);
  paintStrip(app);
  paintBars(app);
  paintControls(app);
  announce(app);
  app.root.dataset.attnvizMs = (performance.now() - began).toFixed(2);
  app.root.dataset.attnvizPainted = app.payload.header.id;
  app.root.dataset.attnvizView = JSON.stringify({ ...app.view, seq: app.seq });
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
  return measure(app);
}

function measure(app) {
  const { mapBox, gridBox } = app.parts;
  const sizes = { map: [mapBox.clientWidth, mapBox.clientHeight], grid: [gridBox.clientWidth, gridBox.clientHeight] };
  const changed = JSON.stringify(sizes) !== JSON.stringify({ map: app.sizes.map, grid: app.sizes.grid });
  if (sizes.map[0] > 0) app.sizes = sizes;
  return changed && sizes.map[0] > 0;
}

function watchSize(app) {
  const look = () => {
    if (app.payload && app.root.isConnected && fitHeight(app)) paint(app, performance.now());
  };
  const watcher = new ResizeObserver(look);
  for (const node of [app.root, app.parts.mapBox, app.parts.gridBox]) watcher.observe(node);
  // The height of the window is not the component's own, and no observer of an element tells of it.
  window.removeEventListener("resize", window.attnvizHeadsResize);
  window.attnvizHeadsResize = look;
  window.addEventListener("resize", look);
}
