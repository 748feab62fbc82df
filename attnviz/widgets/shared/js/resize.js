// A widget's place in the page.

const RESERVE = 44; // pixels below it, for the status bar

// How many of the window's pixels one of the widget's takes: more than one where it is presented on a large screen
// (attnviz/widgets/screen), which draws everything larger, letters too.
export const magnified = () => Number(document.documentElement.style.getPropertyValue("--magnified")) || 1;

// A canvas's pixels for each of its own.
export const sharpness = () => (devicePixelRatio || 1) * magnified();

// Where a pointer is in a node, in the widget's own pixels.
export function pointIn(node, { clientX, clientY }) {
  const { left, top } = node.getBoundingClientRect();
  return [clientX - left, clientY - top].map((length) => length / magnified());
}

const isPresented = (root) => Boolean(root.getRootNode().host?.hasAttribute("data-presented"));

// Phones stack their panes; what is presented shows its picture alone.
export function tellSize(root) {
  const width = root.clientWidth;
  root.dataset.size = width < 760 ? "phone" : width < 1060 ? "middle" : "wide";
  root.toggleAttribute("data-present", isPresented(root));
  return width;
}

// As high as leaves the page without a scroll bar, and at least `least`; on a phone as high as its panes are. What is
// presented has the whole window.
export function fillWindow(root, least) {
  const width = tellSize(root);
  if (isPresented(root)) {
    const height = Math.floor(innerHeight / magnified());
    root.style.height = `${height}px`;
    return [width, height];
  }
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
