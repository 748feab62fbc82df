// The map in focus, or the pinned maps side by side, or the difference of two.

function focusOf(app) {
  const { kind, layer, head } = app.view;
  return siteTile(app, [kind, layer, head]);
}

function siteTile(app, [name, layer, head]) {
  const kind = app.payload.kinds.get(name);
  return { kind, layer, head, map: mapOf(app, name, layer, head), mask: maskOf(kind, layer, head), signed: false };
}

const headed = (app, tile) => ({ ...tile, heading: mapName(app, tile) });

function tilesOf(app) {
  const { compare, pins } = app.view;
  if (compare === "side") return pins.map((pin) => headed(app, siteTile(app, pin)));
  if (compare === "difference") return [differenceTile(app) ?? focusOf(app)];
  return [focusOf(app)];
}

const pinName = (app, [name, layer, head]) => `${app.payload.kinds.get(name).tab} ${siteName(layer, head)}`;

// Two pins: the first less the second. One pin: the head in focus less the pinned one, so that heads can be walked.
function differencePair({ view }) {
  const focus = [view.kind, view.layer, view.head];
  return view.pins.length > 1 ? view.pins.slice(0, 2) : [focus, view.pins[0]];
}

function differenceTile(app) {
  const [first, second] = differencePair(app);
  if (first[0] !== second[0]) return null;
  const a = siteTile(app, first),
    b = siteTile(app, second);
  const data = a.map.data.map((value, i) => value - b.map.data[i]);
  const mask = a.mask && b.mask ? a.mask.map((seen, i) => seen | b.mask[i]) : null;
  return { ...a, signed: true, mask, map: { data, exact: a.map.exact && b.map.exact }, pair: [first, second] };
}

// One range for all the maps that are drawn side by side, so that their colours can be compared.
function rangeOf(app, tiles) {
  if (tiles[0].signed) {
    const high = largest(tiles[0].map.data, [], 1) || 1;
    return { low: -high, high, note: "the largest difference either way" };
  }
  const { sink, scale } = app.view;
  if (!sink && scale !== "max") return { low: 0, high: 1, note: "" };
  const tops = tiles.map(({ kind, map }) => largest(map.data, sink ? kind.sinks : [], kind.nCols));
  const high = Math.max(...tops) || 1;
  if (!sink) return { low: 0, high, note: "up to the largest weight" };
  const names = [...new Set(tiles.flatMap(({ kind }) => kind.sinks.map((col) => isolated(kind.cols[col]))))];
  return { low: 0, high, note: `sink left out of the range: ${names.join(", ") || "none here"}` };
}

function largest(data, without, nCols) {
  const skip = new Set(without);
  let high = 0;
  for (let i = 0; i < data.length; i++) {
    const size = Math.abs(data[i]);
    if (size > high && !(skip.size && skip.has(i % nCols))) high = size;
  }
  return high;
}

function paintFocus(app) {
  const picture = pictureOf(app);
  if (app.picture !== picture) {
    app.picture = picture;
    paintMaps(app);
  }
  followPointer(app);
  paintOverlay(app);
  paintTitle(app);
}

// All that the maps' own canvas depends on. Row and pointer lie on the canvas above it: of a long text, painting the
// maps again for another row would take longer than a frame.
function pictureOf({ payload, theme, sizes, view }) {
  const { kind, layer, head, pins, compare, sink, scale, zoom, mask } = view;
  const drawn = [kind, layer, head, pins, compare, sink, scale, zoom, mask];
  return JSON.stringify([payload.header.id, theme.key, sizes.map, devicePixelRatio, drawn]);
}

function paintMaps(app) {
  const tiles = tilesOf(app);
  const range = rangeOf(app, tiles);
  app.tiles = tiles.map((tile) => ({ ...tile, range, zoom: zoomOf(app, tile.kind) }));
  app.range = range;
  const [w, h] = app.sizes.map;
  const pen = canvasPen(sharpContext(app.parts.map, [w, h]), app.theme);
  drawTiles(app, pen, app.tiles, { x: 0, y: 0, w, h });
}

function drawTiles(app, pen, tiles, area) {
  const boxes = boxesFor(tiles.length, area);
  tiles.forEach((tile, i) => {
    tile.atLeft = boxes[i].x === boxes[0].x;
    tile.atBottom = !boxes.some(({ x, y }) => x === boxes[i].x && y > boxes[i].y);
    drawTile(app, pen, tile, boxes[i]);
  });
}

function boxesFor(count, { x, y, w, h }) {
  const columns = count === 1 ? 1 : w > h * 0.8 || count > 2 ? 2 : 1;
  const rows = Math.ceil(count / columns);
  const size = { w: Math.floor(w / columns) - (columns > 1 ? 6 : 0), h: Math.floor(h / rows) - (rows > 1 ? 4 : 0) };
  return range(count).map((i) => ({
    x: x + (i % columns) * (size.w + 12),
    y: y + Math.floor(i / columns) * (size.h + 8),
    ...size,
  }));
}

function titleOf(app) {
  const { kind, layer, head, pair } = app.tiles[0];
  if (app.view.compare === "side") return ["Pinned heads side by side", `${app.tiles.length} of up to 4`];
  if (pair) return [`${kind.title}, difference`, pair.map(([, l, h]) => siteName(l, h)).join(" − ")];
  return [`${kind.title}, ${siteName(layer, head)}`, kind.question];
}

function paintTitle(app) {
  const [title, question] = titleOf(app);
  put(app.parts.title, title);
  put(app.parts.question, question);
  app.parts.map.setAttribute("aria-label", `${title}: ${question}. ${activeText(app)}`);
  const coarse = app.tiles.some((tile) => !tile.map.exact);
  app.parts.coarse.hidden = !coarse;
  const pooled = app.tiles.some((tile) => !tile.map.exact && tile.kind.isPooled);
  put(app.parts.coarse, pooled ? "8-bit, maxima of blocks" : "8-bit");
}
