// Bars around a zero line, drawn with a pen: what adds to a logit, and what a head's bar is made of.

import { range } from "../../../kit/js/cells.js";
import { shortened } from "../../../kit/js/pens/canvas_pen.js";
import { shortText } from "../../../kit/js/text.js";

export const ROW = 18;
const NAME = 128;
const NUMBER = 46;

export const barsHeight = (count) => count * ROW + 6;

// `bars` have a name, a value and perhaps a drop; `chosen` is the one with a frame.
export function paintBars(pen, theme, bars, { top, width, chosen = -1 }) {
  const values = bars.flatMap(({ value, drop }) => [value, drop ?? 0]);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const room = Math.max(
    40,
    width - NAME - NUMBER * (bars.some(({ drop }) => drop !== null && drop !== undefined) ? 2 : 1) - 14,
  );
  const scale = room / (high - low || 1);
  const zero = NAME + 8 - low * scale;
  for (const i of range(bars.length)) {
    const bar = bars[i];
    const y = top + i * ROW;
    if (i === chosen) pen.box(0, y, width - 2, ROW, { stroke: theme.accent, width: 1.5, radius: 4 });
    const name = shortened(pen, bar.name, NAME - 8, { size: 11.5 });
    pen.text(name, NAME, y + ROW / 2, { size: 11.5, align: "right", colour: bar.head ? theme.ink : theme.muted });
    paintBar(pen, theme, bar, { zero, scale, y });
    pen.text(shortText(bar.value), NAME + 8 + room + NUMBER, y + ROW / 2, { size: 11, align: "right" });
    if (bar.drop !== null && bar.drop !== undefined)
      pen.text(shortText(bar.drop), NAME + 8 + room + 2 * NUMBER, y + ROW / 2, {
        size: 11,
        align: "right",
        colour: theme.muted,
      });
  }
  pen.line(zero, top, zero, top + bars.length * ROW, { stroke: theme.faint });
}

function paintBar(pen, theme, { value, drop }, { zero, scale, y }) {
  const hasDrop = drop !== null && drop !== undefined;
  const from = (number) => [zero + Math.min(0, number * scale), Math.max(0.5, Math.abs(number * scale))];
  const [x, long] = from(value);
  pen.box(x, y + 3, long, hasDrop ? 7 : ROW - 6, { fill: theme.accent, radius: 1.5 });
  if (!hasDrop) return;
  const [at, wide] = from(drop);
  pen.box(at, y + 11, wide, 4, { fill: theme.faint, radius: 1.5 });
}
