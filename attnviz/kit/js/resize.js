// A widget's place in whatever holds it.

import { whileAttached } from "./attached.js";

// How many of the window's pixels one of the widget's takes: more than one where it is presented on a large screen
// (attnviz/app/widgets/screen), which draws everything larger, letters too.
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

// The pixels that its host gives it, or null. What is presented has the whole window.
export const heightFor = ({ root, host }, least) =>
  isPresented(root) ? Math.floor(innerHeight / magnified()) : host.height(root, least);

// As high as its host says, or `least` where that says nothing; on a phone as high as its panes are.
export function fillPlace(app, least) {
  const { root } = app;
  const width = tellSize(root);
  const height = heightFor(app, least) ?? least;
  root.style.height = root.dataset.size === "phone" && !isPresented(root) ? "" : `${height}px`;
  return [width, height];
}

function refit(app) {
  if (app.payload && app.attached && app.widget.fit(app)) app.widget.paint(app, performance.now());
}

// What is above may still be moving into its place.
export function refitSoon(app) {
  for (const wait of [60, 350, 1200]) setTimeout(() => refit(app), wait);
}

export function watchSize(app, ...nodes) {
  const look = () => refit(app);
  watchNodes(app, nodes, look);
  // The height of the window is not the component's own, and no observer of an element tells of it.
  whileAttached(app, (signal) => window.addEventListener("resize", look, { signal }));
}

export function watchNodes(app, nodes, changed) {
  whileAttached(app, (signal) => {
    const watcher = new ResizeObserver(changed);
    for (const node of nodes) watcher.observe(node);
    signal.addEventListener("abort", () => watcher.disconnect());
  });
}

// For tests, benchmarks and the curious: what is drawn, and how long that took.
export function tellPainted({ root, payload, view, seq }, began) {
  root.dataset.attnvizMs = (performance.now() - began).toFixed(2);
  root.dataset.attnvizView = JSON.stringify({ ...view, seq });
  root.dataset.attnvizPainted = payload.header.id;
}
