// Where each head's miniature is: layers down and heads across, as large as the pane lets them be.

import { isIndex } from "../../shared/js/cells.js";

export const AT_ONCE = ["kind", "open"]; // only Python has another kind's maps, or opens a head
const MARGIN = { left: 30, top: 18 };
const GAP = 6;
const WIDEST = 230;

export function settle(app) {
  const [layers, heads] = app.payload.header.shape;
  if (!isIndex(app.view.layer, layers)) app.view.layer = 0;
  if (!isIndex(app.view.head, heads)) app.view.head = 0;
}

export function layoutOf(app, [width, height]) {
  const { shape, size } = app.payload.header;
  const [layers, heads] = shape;
  let w = Math.min(WIDEST, Math.floor((width - MARGIN.left) / heads) - GAP);
  let h = Math.floor((height - MARGIN.top) / layers) - GAP;
  // A map keeps its shape as far as that is possible; lines may be as wide as they like.
  const shown = size[0] / size[1];
  if (app.view.mini === "map") [w, h] = [Math.min(w, h / shown), Math.min(h, w * shown * 1.6)];
  w = Math.max(9, Math.floor(w));
  h = Math.max(9, Math.floor(Math.min(h, WIDEST)));
  const left = MARGIN.left + Math.max(0, Math.floor((width - MARGIN.left - heads * (w + GAP)) / 2));
  const box = (layer, head) => ({ x: left + head * (w + GAP), y: MARGIN.top + layer * (h + GAP), w, h });
  return { w, h, left, layers, heads, box, width: left + heads * (w + GAP), height: MARGIN.top + layers * (h + GAP) };
}
