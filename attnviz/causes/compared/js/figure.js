// The picture for files: both maps of the head in focus with their difference, and the texts; and the numbers.

import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { rowName, siteName } from "../../../kit/js/text.js";
import { groupOf, mapsOf, sortedHeads } from "./choice.js";
import { drawMaps, labelOf, layoutOf, namesOf } from "./maps.js";

const [WIDTH, HEAD, MARGIN] = [1100, 78, 14];

const layout = (app) => layoutOf(mapsOf(app), [WIDTH - 2 * MARGIN, 560], false);

export const figureName = ({ view }) => `compared-${view.kind}-L${view.layer}-H${view.head}`;
export const siteOf = (app) =>
  `${groupOf(app).title} ${siteName(app.view.layer, app.view.head)}, ${app.payload.header.names.join(" | ")}`;
export const figureSize = (app) => (mapsOf(app) ? [WIDTH, HEAD + layout(app).full[1] + MARGIN] : [WIDTH, HEAD]);

export function figure(app, pen) {
  const { header } = app.payload;
  pen.text(`${groupOf(app).title} ${siteName(app.view.layer, app.view.head)}`, MARGIN, 16, { size: 14, weight: 600 });
  header.texts.forEach((runs, side) => {
    const text = `${header.names[side]}: ${runs.map(([part]) => part).join("")}`;
    pen.text(shortened(pen, text, WIDTH - 2 * MARGIN), MARGIN, 36 + 17 * side);
  });
  const found = mapsOf(app);
  if (!found) return;
  const placed = layout(app);
  drawMaps(app, pen, found, {
    ...placed,
    at: (i) => placed.at(i).map((value, axis) => value + [MARGIN, HEAD - 6][axis]),
  });
}

export function csvRows(app) {
  const heads = sortedHeads(app).map(({ group, layer, head, bits }) => [group.kind, layer, head, bits ?? "NaN"]);
  const found = mapsOf(app);
  const cells = !found
    ? []
    : found.group.rows.flatMap((row, i) =>
        found.group.cols.map((col, j) => [
          labelOf(row, found.group.row_texts, rowName),
          labelOf(col, found.group.col_texts),
          ...found.maps.map((map) => (Number.isNaN(map[i * found.nCols + j]) ? "" : map[i * found.nCols + j])),
        ]),
      );
  return [
    ["kind", "layer", "head", "apart_bits"],
    ...heads,
    [],
    ["row", "key", ...namesOf(app).slice(0, found?.maps.length ?? 0)],
    ...cells,
  ];
}
