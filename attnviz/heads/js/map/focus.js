// The map in focus, or the pinned maps side by side, or the difference of two, as they are painted.

import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { put } from "../../../kit/js/elements.js";
import { sharpness } from "../../../kit/js/resize.js";
import { siteName } from "../../../kit/js/text.js";
import { isOfWeights } from "../measures.js";
import { activeText } from "../subject.js";
import { arranged } from "./arrange.js";
import { drawTile } from "./tile.js";
import { rangeOf, tilesOf } from "./tiles.js";
import { zoomOf } from "./zoom_window.js";

export function paintFocus(app) {
  const picture = pictureOf(app);
  if (app.picture !== picture) {
    app.picture = picture;
    paintMaps(app);
  }
}

// All that the maps' own canvas depends on. Row and pointer are drawn on the canvas above it: of a long text, painting the
// maps again for another row would take longer than a frame.
function pictureOf({ payload, theme, sizes, view }) {
  const { kind, layer, head, pins, compare, sink, scale, zoom, mask } = view;
  const drawn = [kind, layer, head, pins, compare, sink, scale, zoom, mask];
  return JSON.stringify([payload.header.id, theme.key, sizes.map, sharpness(), drawn]);
}

function paintMaps(app) {
  const tiles = tilesOf(app);
  app.range = rangeOf(app, tiles);
  app.tiles = tiles.map((tile) => ({ ...tile, range: app.range, zoom: zoomOf(app, tile.kind) }));
  const [w, h] = app.sizes.map;
  const pen = canvasPen(sharpContext(app.parts.map, [w, h]), app.theme);
  drawTiles(app, pen, app.tiles, { x: 0, y: 0, w, h });
}

export function drawTiles(app, pen, tiles, area) {
  if (tiles.length === 1 && !tiles[0].heading) return drawTile(app, pen, tiles[0], area);
  for (const [i, { place, box }] of arranged(app, pen, tiles, area).entries()) {
    tiles[i].place = place;
    drawTile(app, pen, tiles[i], box);
  }
}

export function titleOf(app) {
  const { kind, layer, head, pair } = app.tiles[0];
  if (app.view.compare === "side") return ["Side by side", `${app.tiles.length} of up to 4 pinned heads`];
  if (pair) return [`${kind.title}, difference`, pair.map(([, l, h]) => siteName(l, h)).join(" − ")];
  return [`${kind.title}, ${siteName(layer, head)}`, kind.question];
}

export function paintTitle(app) {
  const [title, question] = titleOf(app);
  put(app.parts.title, title);
  put(app.parts.question, question);
  app.parts.map.setAttribute("aria-label", `${title}: ${question}. ${activeText(app)}`);
  const coarse = app.tiles.some((tile) => !tile.map.exact);
  app.parts.coarse.hidden = !coarse;
  const pooled = app.tiles.some((tile) => !tile.map.exact && tile.kind.isPooled);
  const ofWeights = pooled ? "8-bit, maxima of blocks" : "8-bit";
  put(app.parts.coarse, isOfWeights(app) ? ofWeights : "being computed …");
}
