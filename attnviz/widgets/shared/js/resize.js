// A widget's place in the page.

const RESERVE = 44; // pixels below it, for the status bar

// Phones stack their panes.
export function tellSize(root) {
  const width = root.clientWidth;
  root.dataset.size = width < 760 ? "phone" : width < 1060 ? "middle" : "wide";
  return width;
}

// As high as leaves the page without a scroll bar, and at least `least`; on a phone as high as its panes are.
export function fillWindow(root, least) {
  const width = tellSize(root);
  let top = root.getBoundingClientRect().top;
  for (let node = root; node; node = node.parentElement ?? node.getRootNode().host) top += node.scrollTop || 0;
  const height = Math.max(least, Math.floor(innerHeight - top - RESERVE));
  root.style.height = root.dataset.size === "phone" ? "" : `${height}px`;
  return [width, height];
}

function refit(app) {
  if (app.payload && app.root.isConnected && app.widget.fit(app)) app.widget.paint(app, performance.now());
}

// What is above may still be moving into its place.
export function refitSoon(app) {
  for (const wait of [60, 350, 1200]) setTimeout(() => refit(app), wait);
}

export function watchSize(app, ...nodes) {
  const look = () => refit(app);
  const watcher = new ResizeObserver(look);
  for (const node of nodes) watcher.observe(node);
  // The height of the window is not the component's own, and no observer of an element tells of it. Nothing tells a
  // widget that its page was left: the next resize after that does.
  const lookWhileThere = () => (app.root.isConnected ? look() : window.removeEventListener("resize", lookWhileThere));
  window.addEventListener("resize", lookWhileThere);
}

// For tests, benchmarks and the curious: what is drawn, and how long that took.
export function tellPainted({ root, payload, view, seq }, began) {
  root.dataset.attnvizMs = (performance.now() - began).toFixed(2);
  root.dataset.attnvizView = JSON.stringify({ ...view, seq });
  root.dataset.attnvizPainted = payload.header.id;
}
