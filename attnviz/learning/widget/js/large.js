// One head's map, large, with the names of its rows and columns.

import { canvasPen, sharpContext, shortened } from "../../../kit/js/pens/canvas_pen.js";
import { pointIn } from "../../../kit/js/resize.js";
import { rowName, siteName } from "../../../kit/js/text.js";
import { imageOf, scaleOf } from "../../../kit/js/theme.js";
import { hideTip, placeInWindow } from "../../../kit/js/tip.js";
import { boxOf } from "./boxes.js";
import { tipLines } from "./grid.js";
import { drawLargeImage, isImages, tokenAt } from "./images.js";
import { mapOf } from "./runs.js";

const TEXT = 11;
const SLANT = -Math.PI / 4;
const MOST_ACROSS = 62; // pixels of the columns' names
const AXIS = 16;
const LARGEST = 46; // pixels of a cell

export function largeGeometry(pen, kind, [width, height]) {
  const names = kind.rows.map(rowName);
  const widest = (texts) => Math.max(...texts.map((text) => pen.widthOf(text, TEXT)));
  const left = AXIS + Math.min(widest(names) + 10, width * 0.4);
  const top = Math.min(MOST_ACROSS, widest(kind.cols) * 0.72 + 14);
  const cell = Math.min(LARGEST, (width - left - 34) / kind.nCols, (height - top - AXIS) / kind.nRows);
  return { left, top, cell: Math.max(3, cell), names };
}

export function drawLarge(app, pen, { kind, cells, size }) {
  const place = largeGeometry(pen, kind, size);
  const { left, top, cell, names } = place;
  const [w, h] = [cell * kind.nCols, cell * kind.nRows];
  pen.image(imageOf(cells, [kind.nRows, kind.nCols], scaleOf(app, "sequential"), [0, 255]), left, top, w, h);
  pen.box(left - 0.5, top - 0.5, w + 1, h + 1, { stroke: app.theme.line });
  const every = Math.max(1, Math.ceil(11 / cell));
  const quiet = { size: TEXT, colour: app.theme.muted };
  names.forEach((name, row) => {
    if (row % every) return;
    pen.text(shortened(pen, name, left - AXIS - 8, quiet), left - 6, top + (row + 0.5) * cell, {
      ...quiet,
      align: "right",
    });
  });
  kind.cols.forEach((name, col) => {
    if (col % every) return;
    pen.text(shortened(pen, name, 78, quiet), left + (col + 0.5) * cell, top - 6, { ...quiet, angle: SLANT });
  });
  pen.text(kind.query, 7, top + h / 2, { ...quiet, align: "center", angle: -Math.PI / 2 });
  pen.text(kind.key, left + w / 2, top + h + 11, { ...quiet, align: "center" });
  return place;
}

export function paintLarge(app, pane, [kind, layer, head]) {
  const { large } = pane.parts;
  const [width, height] = boxOf(large.parentElement);
  const size = [width, app.isPhone ? 380 : height];
  const pen = canvasPen(sharpContext(large, size), app.theme);
  const cells = mapOf(kind, pane.drawn.maps, layer, head);
  const { run } = pane;
  const place = isImages(run)
    ? drawLargeImage(app, pen, run, { cells, size })
    : drawLarge(app, pen, { kind, cells, size });
  large.setAttribute("aria-label", `${kind.title}, ${siteName(layer, head)}: ${kind.question}`);
  large.onpointermove = large.onpointerdown = (event) => {
    const cell = isImages(run)
      ? clsCell(run, place, pointIn(large, event))
      : cellAt(kind, place, pointIn(large, event));
    if (!cell) return hideTip(app.parts.cellTip);
    app.parts.cellTip.replaceChildren(...tipLines(pane, [kind, layer, head], cell));
    placeInWindow(app.parts.cellTip, event);
  };
  large.onpointerleave = () => hideTip(app.parts.cellTip);
}

// The row and the column under a pointer, or null beside the map.
function cellAt(kind, place, [x, y]) {
  const row = Math.floor((y - place.top) / place.cell);
  const col = Math.floor((x - place.left) / place.cell);
  return row >= 0 && row < kind.nRows && col >= 0 && col < kind.nCols ? [row, col] : null;
}

function clsCell(run, place, at) {
  const token = tokenAt(run, place, at);
  return token === null ? null : [0, token];
}
