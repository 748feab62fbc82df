// Where a map's cells and labels lie in a box; all lengths in CSS pixels.

const LABEL = 12,
  SLANT = -Math.PI / 4.5,
  LARGEST_CELL = 46,
  AXIS = 18;

function geometryOf(pen, tile, box) {
  const { kind, zoom } = tile;
  const nRows = zoom.bottom - zoom.top,
    nCols = zoom.right - zoom.left;
  const compact = Boolean(tile.heading);
  const left = AXIS + rowLabelWidth(pen, kind, box) + 8;
  const across = colLabelSpace(pen, kind, { nCols, width: box.w - left, longest: compact ? 52 : 96 });
  const top = across.height + 6 + (tile.heading ? 20 : 0);
  const space = { w: box.w - left - across.overhang - 2, h: box.h - top - AXIS };
  const cell = cellSize(space, { nRows, nCols });
  const w = cell.w * nCols,
    h = cell.h * nRows;
  const free = Math.max(0, Math.min(space.w - w, space.h > 0 ? space.w - w : 0));
  return {
    box,
    cell,
    w,
    h,
    nRows,
    nCols,
    zoom,
    slanted: across.slanted,
    longest: compact ? 52 : 96,
    labelSize: Math.min(LABEL, Math.max(10, cell.h - 1)),
    labelWidth: left - AXIS - 8,
    x: box.x + left + Math.floor(free / 2),
    y: box.y + top,
  };
}

function cellSize(space, { nRows, nCols }) {
  let w = Math.min(LARGEST_CELL, Math.max(0.5, space.w / nCols));
  let h = Math.min(LARGEST_CELL, Math.max(0.5, space.h / nRows));
  w = Math.min(w, h * 1.6);
  h = Math.min(h, w * 1.25);
  const whole = (side) => (side >= 6 ? Math.floor(side) : Math.floor(side * 8) / 8 || 0.5);
  return { w: whole(w), h: whole(h) };
}

function rowLabelWidth(pen, kind, box) {
  const most = Math.min(190, box.w * 0.3);
  let widest = 24;
  for (const [input, output] of kind.rows) {
    const parts = [input, output].filter((part) => part !== null);
    widest = Math.max(widest, pen.widthOf(parts.join(" → "), LABEL, 600));
    if (widest >= most) return most;
  }
  return widest;
}

// Labels lie flat where every one fits its column, and slant where they do not.
function colLabelSpace(pen, kind, { nCols, width, longest }) {
  const all = kind.cols.map((text) => pen.widthOf(text, LABEL));
  const widest = Math.min(longest, Math.max(...all, 8));
  if (widest + 4 <= Math.min(LARGEST_CELL, width / nCols) * 0.8) return { slanted: false, height: 16, overhang: 6 };
  const last = Math.min(longest, Math.max(...all.slice(-3)));
  return { slanted: true, height: widest * Math.sin(-SLANT) + 14, overhang: Math.max(8, last * Math.cos(SLANT) - 4) };
}

// The cell under a point, or null.
function cellAt(geometry, [x, y]) {
  const col = Math.floor((x - geometry.x) / geometry.cell.w),
    row = Math.floor((y - geometry.y) / geometry.cell.h);
  if (col < 0 || col >= geometry.nCols || row < 0 || row >= geometry.nRows) return null;
  return { row: row + geometry.zoom.top, col: col + geometry.zoom.left };
}

// The row whose label or cells lie at a point, or null.
function rowAt(geometry, [x, y]) {
  const row = Math.floor((y - geometry.y) / geometry.cell.h);
  const inside = x >= geometry.box.x && x < geometry.x + geometry.w && row >= 0 && row < geometry.nRows;
  return inside ? row + geometry.zoom.top : null;
}

const rowTop = (geometry, row) => geometry.y + (row - geometry.zoom.top) * geometry.cell.h;
const colLeft = (geometry, col) => geometry.x + (col - geometry.zoom.left) * geometry.cell.w;

function clipped(pen, text, width, { size = LABEL, weight = 400 } = {}) {
  if (pen.widthOf(text, size, weight) <= width) return text;
  const signs = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  while (signs.length > 1 && pen.widthOf(signs.join("") + "…", size, weight) > width) signs.pop();
  return signs.join("") + "…";
}
