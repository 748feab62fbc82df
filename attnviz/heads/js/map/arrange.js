// Where maps stand that are drawn together: of all arrangements in lines the one that gives their cells the most room.
// Maps beside each other that have the same rows name these once, on the left.

import { range } from "../../../kit/js/cells.js";
import { bandRoom } from "./bands.js";
import { AXIS, geometryOf, rowLabelWidth } from "./geometry.js";
import { haveSameRows } from "./tiles.js";

const ACROSS = 14; // pixels between two maps of a line,
const DOWN = 8; // and between two lines
const LEAST = 0.7; // of the whole width, that a line of names is measured by however many maps stand in it

// For each tile its box and its `place`, which geometryOf keeps to: `left`, the pixels beside the map, of which `axis` are for
// the title of its rows; `top`, those above it; `high`, the most that a cell may have; and whether its rows `isNamedBefore`,
// and it `isLowest` in its column.
export function arranged(app, pen, tiles, area) {
  const found = range(tiles.length).map((i) => inLines(app, pen, tiles, { area, columns: i + 1 }));
  return found.reduce((best, one) => (worthOf(pen, tiles, one) > worthOf(pen, tiles, best) ? one : best));
}

const geometryIn = (pen, tile, { place, box }) => geometryOf(pen, { ...tile, place }, box);

// The area of all cells; that of cells much longer one way than the other counts for less.
const worthOf = (pen, tiles, found) =>
  found.reduce((sum, one, i) => {
    const { w, h, cell } = geometryIn(pen, tiles[i], one);
    return sum + w * h * Math.sqrt(Math.min(1, (2 * cell.w) / cell.h, (2 * cell.h) / cell.w));
  }, 0);

function inLines(app, pen, tiles, { area, columns }) {
  const lines = range(Math.ceil(tiles.length / columns)).map((i) => tiles.slice(i * columns, (i + 1) * columns));
  const wide = lines.map((line) => across(app, pen, line, { area, columns }));
  const top = (line, i) => Math.max(...line.map((one, j) => topOf(pen, lines[i][j], one, area.h / lines.length)));
  const tops = wide.map(top);
  const taken = tops.reduce((sum, each) => sum + each, AXIS + DOWN * (lines.length - 1));
  const high = Math.max(0, Math.floor((area.h - taken) / lines.length));
  let y = area.y;
  return wide.flatMap((line, i) => {
    const placed = line.map((one, j) => {
      const isLowest = i === lines.length - 1 || lines[i + 1].length <= j;
      const place = { ...one.place, top: tops[i], isLowest };
      return { place, box: { ...one.box, y, h: tops[i] + high + (isLowest ? AXIS : 0) } };
    });
    y += tops[i] + high + DOWN;
    return withEvenRows(pen, lines[i], placed);
  });
}

// A line's maps are equally wide; the room beside them depends on which of them name the rows.
function across(app, pen, line, { area, columns }) {
  const places = line.map((tile, i) => {
    const isNamedBefore = i > 0 && haveRowsInCommon(app, line[i - 1], tile);
    const axis = i ? 0 : AXIS;
    const room = Math.max(area.w / columns, area.w * LEAST);
    const names = isNamedBefore ? 0 : rowLabelWidth(pen, tile, room) + 8 + bandRoom(tile).rows;
    return { axis, isNamedBefore, left: axis + names };
  });
  const beside = places.reduce((sum, { left }) => sum + left, ACROSS * (columns - 1));
  const w = Math.max(8, Math.floor((area.w - beside) / columns));
  let x = area.x;
  return places.map((place) => {
    const box = { x, y: area.y, w: w + place.left, h: area.h };
    x += box.w + ACROSS;
    return { place, box };
  });
}

const haveRowsInCommon = (app, one, other) =>
  haveSameRows(app, one.kind.kind, other.kind.kind) &&
  one.zoom.top === other.zoom.top &&
  one.zoom.bottom === other.zoom.bottom;

const topOf = (pen, tile, { place, box }, h) => geometryIn(pen, tile, { place, box: { ...box, h } }).y - box.y;

// A row that is named once lies at one height in all maps of its line.
function withEvenRows(pen, line, placed) {
  if (!placed.some(({ place }) => place.isNamedBefore)) return placed;
  const high = Math.min(...placed.map((one, i) => geometryIn(pen, line[i], one).cell.h));
  return placed.map(({ place, box }) => ({ place: { ...place, high }, box }));
}
