// The lines themselves. A line is as opaque as its weight is large; lines of one head that are about as opaque are one
// stroke, for a stroke a line would take many times as long.

import { sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { activeToken, chosenLines, hueOf } from "./lines.js";

const SHADES = 24;

export function paintStrokes(app) {
  const { parts } = app;
  const token = activeToken(app);
  const all = (app.all = app.allKey === allKey(app) ? app.all : chosenLines(app, null));
  app.allKey = allKey(app);
  app.shown = token === null ? all : chosenLines(app, token);
  const size = [parts.middle.clientWidth, parts.body.clientHeight];
  const context = sharpContext(parts.canvas, size);
  strokeLines(
    app,
    app.shown,
    { width: size[0], from: parts.body.scrollTop, to: parts.body.scrollTop + size[1] },
    token === null ? 1 : 2,
    canvasStrokes(context, [0, 0]),
  );
}

const allKey = (app) => JSON.stringify([app.payload.header.id, app.view.heads, app.view.scale]);

// Calls the pen once for each head and shade. Lines that lie wholly above or below what is seen are left alone.
export function strokeLines(app, { lines, top }, { width, from, to }, thickness, pen) {
  const buckets = new Map();
  const y = (place) => (place + 0.5) * app.rowHeight;
  for (const line of lines) {
    const [a, b] = [y(line.row), y(line.col)];
    if ((a < from && b < from) || (a > to && b > to)) continue;
    const shade = Math.max(1, Math.ceil(Math.min(1, line.weight / top) * SHADES));
    const key = line.place * 64 + shade;
    let bucket = buckets.get(key);
    if (!bucket) buckets.set(key, (bucket = []));
    bucket.push(a - from, b - from);
  }
  for (const key of [...buckets.keys()].sort((a, b) => (a & 63) - (b & 63))) {
    const ends = buckets.get(key);
    pen.begin();
    for (let i = 0; i < ends.length; i += 2) pen.line(0, ends[i], width, ends[i + 1]);
    pen.end(hueOf(app, key >> 6), (key & 63) / SHADES, thickness);
  }
}

export const canvasStrokes = (context, [x, y]) => ({
  begin: () => context.beginPath(),
  line: (x1, y1, x2, y2) => {
    context.moveTo(x + x1, y + y1);
    context.lineTo(x + x2, y + y2);
  },
  end: (colour, alpha, width) => {
    Object.assign(context, { globalAlpha: alpha, strokeStyle: colour, lineWidth: width });
    context.stroke();
    context.globalAlpha = 1;
  },
});
