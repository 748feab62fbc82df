// Where everything of the drawing is: a column a stack, read upward as the paper's figure is, side by side where there is
// room and else one above the other. Pure: `widthOf(text, size, weight)` measures.

import { PAD, SIZE, boxOf } from "./boxes.js";
import { itemsOf } from "./sublayers.js";
import { fullLayer } from "./segments.js";

const [GAP, LANE] = [9, 20];
const BESIDE = 560; // pixels: two columns need as many
const WIDEST = 340;

export function layoutOf(built, { width, here, opened = new Set(), widthOf }) {
  const isBeside = built.stacks.length > 1 && width >= BESIDE;
  const lane = LANE + PAD;
  const room = isBeside ? (width - 3 * lane - LANE) / 2 : width - 2 * lane;
  const column = Math.min(WIDEST, room);
  const made = built.stacks.map((plan) => {
    const full = fullLayer(plan, here);
    return columnOf(itemsOf(built, plan, { full, opened, here }), column, widthOf, plan.stack);
  });
  const used = isBeside ? 2 * column + 3 * lane + LANE : column + 2 * lane;
  const height = isBeside
    ? Math.max(...made.map((one) => one.height))
    : made.reduce((sum, one) => sum + one.height, (made.length - 1) * 3 * GAP);
  const placed = placeColumns(made, { isBeside, column, lane, height });
  return {
    width: used,
    height: height + 2 * PAD,
    parts: placed.flatMap((one) => one.parts),
    frames: placed.flatMap((one) => one.frames),
    wires: [...placed.flatMap((one) => one.wires), ...memoryWires(placed, isBeside)],
  };
}

// The encoder on the left, or below.
function placeColumns(made, { isBeside, column, lane, height }) {
  let bottom = height + PAD;
  return made.map((one, at) => {
    const left = lane + (isBeside ? at * (column + lane + LANE) : 0);
    const shifted = shift(one, left, bottom);
    if (!isBeside) bottom -= one.height + 3 * GAP;
    return shifted;
  });
}

// A column's own coordinates: x from its left, y from its bottom upward.
function shift({ parts, frames, wires }, left, bottom) {
  const box = (one) => ({ ...one, x: one.x + left, y: bottom - one.y - one.h });
  return {
    parts: parts.map((part) => ({
      ...box(part),
      lines: part.lines.map((line) => ({ ...line, x: line.x + left, y: bottom - line.y })),
      cells: part.cells?.map((cell) => ({ ...cell, x: cell.x + left, y: bottom - cell.y - cell.h })),
      chip: part.chip && box(part.chip),
    })),
    frames: frames.map((frame) => ({
      ...box(frame),
      line: { ...frame.line, x: left + frame.line.x, y: bottom - frame.line.y },
    })),
    wires: wires.map((wire) => ({ ...wire, points: wire.points.map(([x, y]) => [x + left, bottom - y]) })),
  };
}

function columnOf(items, width, widthOf, stack) {
  const state = {
    y: 0,
    from: null,
    parts: [],
    frames: [],
    wires: [],
    opens: null,
    branch: null,
    width,
    widthOf,
    stack,
  };
  for (const item of items) (PLACERS[item.type] ?? placeBox)(state, item);
  return { ...state, height: state.y };
}

const PLACERS = {
  opens(state, item) {
    state.opens = { item, y: state.y };
    state.y += GAP;
  },
  closes(state) {
    const { item, y } = state.opens;
    state.y += 20;
    const line = { text: item.title, size: SIZE, weight: 600, x: -PAD + 6, y: state.y - 11, align: "start" };
    state.frames.push({ id: item.id, x: -PAD - 4, y, w: state.width + 2 * PAD + 8, h: state.y - y, line });
    state.y += GAP;
    state.opens = null;
  },
  branch(state) {
    state.branch = state.y - GAP / 2;
  },
  row(state, { items }) {
    const part = (state.width - GAP * (items.length - 1)) / items.length;
    const made = items.map((item, at) => boxOf(state, item, at * (part + GAP), part));
    const height = Math.max(...made.map((box) => box.h));
    for (const box of made) state.parts.push(raised(box, height - box.h));
    connect(state, height);
  },
  add(state) {
    const r = 7;
    state.parts.push({
      id: `add-${state.stack}-${state.parts.length}`,
      type: "add",
      x: state.width / 2 - r,
      y: state.y,
      w: 2 * r,
      h: 2 * r,
      lines: [],
    });
    rejoin(state, state.y + r, state.width / 2 - r);
    connect(state, 2 * r);
  },
};

// A box in a row reaches as high as its neighbours.
const raised = (box, by) => ({
  ...box,
  h: box.h + by,
  lines: box.lines.map((line) => ({ ...line, y: line.y + by })),
  cells: box.cells?.map((cell) => ({ ...cell, y: cell.y + by })),
  chip: box.chip && { ...box.chip, y: box.chip.y + by },
});

function placeBox(state, item) {
  const box = boxOf(state, item, 0, state.width);
  state.parts.push(box);
  if (item.joins) rejoin(state, state.y + box.h / 2, 0);
  connect(state, box.h);
}

// The wire from what is below, and upward to the next.
function connect(state, height) {
  const middle = state.width / 2;
  if (state.from !== null)
    state.wires.push({
      points: [
        [middle, state.from],
        [middle, state.y],
      ],
      isArrow: true,
    });
  state.from = state.y + height;
  state.y += height + GAP;
}

// The residual stream: round the sublayer on the left.
function rejoin(state, y, x) {
  if (state.branch === null) return;
  const [middle, left] = [state.width / 2, -PAD];
  state.wires.push({
    points: [
      [middle, state.branch],
      [left, state.branch],
      [left, y],
      [x, y],
    ],
    isArrow: true,
    isResidual: true,
  });
  state.branch = null;
}

// The encoder's output goes to the cross-attention that is drawn in full.
function memoryWires(columns, isBeside) {
  if (columns.length < 2) return [];
  const last = columns[0].parts.at(-1);
  return columns[1].parts
    .filter(({ kind }) => kind === "cross")
    .map((cross) => {
      const [x, y] = [last.x + last.w / 2, last.y];
      const level = cross.y + cross.h / 2;
      const lane = isBeside ? (last.x + last.w + cross.x) / 2 : last.x + last.w + PAD + LANE / 2;
      const end = isBeside ? cross.x : cross.x + cross.w;
      return {
        id: "memory",
        isArrow: true,
        points: [
          [x, y],
          [x, y - GAP],
          [lane, y - GAP],
          [lane, level],
          [end, level],
        ],
      };
    });
}
