// A reply as it is written (kit/js/base/picture.js). Python sends what was added since the last message (payload.py).

import { picture } from "../../../kit/js/base/picture.js";
import { heightFor, tellPainted, tellSize } from "../../../kit/js/resize.js";
import { adopt } from "../../../kit/js/store.js";
import { siteName } from "../../../kit/js/text.js";
import { unpack } from "../../../kit/js/unpack.js";
import { paintAlternatives } from "./alternatives.js";
import { paintMap, paintRow } from "./map.js";
import { merge } from "./message.js";
import { buildShell } from "./shell.js";
import { paintWords, shadeWords } from "./words.js";

const LEAST = 380; // pixels
const REPORTED = ["layer", "head"];

function receive(app) {
  if (!merge(app, app.payload)) {
    const { key } = app.payload.header;
    app.host.report("have", { key, count: countOf(app, key), at: performance.now() });
  }
  app.payload.scales = app.text?.scales;
  adopt(app);
}

const countOf = ({ text }, key) => (text?.key === key ? Math.min(text.tokens.length, text.rows.length + 1) : 0);

// A token that is not there any more is not looked at: the newest one is.
function settle(app) {
  const { view, text } = app;
  const inReply = text && view.at >= text.prompt && view.at < text.tokens.length;
  if (!inReply) view.at = null;
}

function paint(app, began) {
  if (!app.text?.scales || !app.sizes) return;
  app.at = app.view.at ?? app.text.tokens.length - 1;
  paintWords(app);
  shadeWords(app);
  paintMap(app);
  paintRow(app);
  paintAlternatives(app);
  tellPainted(app, began);
}

function fit(app) {
  tellSize(app.root);
  const { root, parts } = app;
  const height = heightFor(app, LEAST) ?? LEAST;
  root.style.height = root.dataset.size === "phone" ? "" : `${height}px`;
  const size = [
    parts.mapBox.clientWidth,
    root.dataset.size === "phone" ? Math.min(parts.mapBox.clientWidth, 360) : parts.mapBox.clientHeight,
  ];
  const changed = JSON.stringify(size) !== JSON.stringify(app.sizes);
  if (size[0] > 0) app.sizes = size;
  return changed && size[0] > 0;
}

export default picture({
  state: () => ({ sizes: null, text: null, at: 0 }),
  start: { at: null },
  buildShell,
  receive,
  settle,
  fit,
  paint,
  decode: unpack,
  reportAfter: (app, patch) => (REPORTED.some((name) => name in patch) ? 0 : null),
  siteOf: ({ view }) => siteName(view.layer, view.head),
});
