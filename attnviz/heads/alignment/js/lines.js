// Two lines of words, the source above, with a ribbon from each target word to every source word that it has some of.

import { measured, shortened } from "../../../kit/js/pens/canvas_pen.js";
import { css } from "../../../kit/js/theme.js";
import { isLinked, linksOf, scoresOf, sharesOf } from "./choice.js";
import { goldColour } from "./gold.js";

export const MOST_WORDS = 300; // of a line
const LONGEST = 170; // pixels of a word
const EDGE = 18;
const GAPS = [16, 10, 5, 4, 3, 2];
const WIDEST = 15; // pixels of a ribbon that has all
const THINNEST = 0.4;
const SIZES = [15, 13.5, 12]; // of letters, the first at which a line fits; a line that never does is scrolled
const MAGNIFIED = [...SIZES, 10.5, 9, 7.5]; // where the picture is presented, and cannot be scrolled
const HEIGHT = 26; // of a word's box
const STEPS = 24;

export function layoutLines(app, [width, height]) {
  const { header } = app.payload;
  const font = app.theme.font;
  const texts = [[...header.src, `∅ ${header.null_text}`], header.tgt];
  const isFile = width === 0; // which is as wide as its lines
  const sizes = !isFile && app.root.hasAttribute("data-present") ? MAGNIFIED : SIZES;
  const tries = sizes.map((size, at) => texts.map((line) => placed(line, { size, gap: GAPS[at], font })));
  const room = width - 2 * EDGE;
  const [src, tgt] = tries.find((lines) => lines.every((line) => extent(line) <= room)) ?? tries.at(-1);
  const wide = Math.max(extent(src), extent(tgt), room);
  const inView = isFile ? wide : room;
  const high = Math.max(190, Math.min(height, 420));
  for (const [line, y] of [
    [src, 8],
    [tgt, high - HEIGHT - 8],
  ]) {
    // In the middle; of a picture that is scrolled in the middle of its beginning, so that both lines begin in view.
    const left = EDGE + Math.max(0, (inView - extent(line)) / 2);
    for (const box of line) Object.assign(box, { x: box.x + left, y });
  }
  return { src, tgt, width: wide + 2 * EDGE, height: high };
}

function placed(texts, { size, gap, font }) {
  let x = 0;
  const ruler = { widthOf: (text) => measured(text, size, 400, font) };
  return texts.map((whole) => {
    const text = shortened(ruler, whole, LONGEST);
    const w = Math.max(14, ruler.widthOf(text) + 8);
    const box = { text, size, x, w, h: HEIGHT };
    x += w + gap;
    return box;
  });
}

const extent = (line) => line.at(-1).x + line.at(-1).w;

export function paintLines(app, pen, layout) {
  const { header } = app.payload;
  if (Math.max(header.src.length, header.tgt.length) > MOST_WORDS) {
    pen.text(`Lines can be drawn for at most ${MOST_WORDS} words. The matrix shows all words.`, EDGE, 60, { size: 13 });
    return;
  }
  header.tgt.forEach((_, tgt) => paintRibbons(app, pen, layout, tgt));
  if (app.view.gold && header.gold) paintGold(app, pen, layout);
  for (const [side, line] of [
    ["src", layout.src],
    ["tgt", layout.tgt],
  ])
    line.forEach((box, at) =>
      paintWord(app, pen, box, isActive(app, side, at), at === header.src.length && side === "src"),
    );
}

export const isActive = ({ active }, side, at) => active?.[0] === side && active[1] === at;

function paintRibbons(app, pen, { src, tgt }, row) {
  const { active, theme } = app;
  if (active?.[0] === "tgt" && active[1] !== row) return;
  const shares = sharesOf(scoresOf(app, row));
  const links = linksOf(app);
  shares.forEach((share, at) => {
    if (share * WIDEST < THINNEST || (active?.[0] === "src" && active[1] !== at)) return;
    const strong = isLinked(links, at, row);
    const stroke = css(at === src.length - 1 ? theme.inkRGB : theme.accentRGB, strong ? 0.72 : 0.24);
    pen.path(between(src[at], tgt[row]), { stroke, width: share * WIDEST });
  });
}

function paintGold(app, pen, { src, tgt }) {
  const { gold } = app.payload.header;
  const stroke = goldColour(app);
  for (const [s, t] of gold.sure) pen.path(between(src[s], tgt[t]), { stroke, width: 1.8 });
  for (const [s, t] of gold.possible) pen.path(between(src[s], tgt[t]), { stroke, width: 1.4, dash: [4, 4] });
}

function between(above, below) {
  const [x1, y1] = [above.x + above.w / 2, above.y + above.h];
  const [x2, y2] = [below.x + below.w / 2, below.y];
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const t = i / STEPS;
    const s = 3 * t * t - 2 * t * t * t;
    return [x1 + s * (x2 - x1), y1 + t * (y2 - y1)];
  });
}

function paintWord({ theme }, pen, { text, size, x, y, w, h }, active, isNull) {
  pen.box(x, y, w, h, {
    fill: theme.paper,
    stroke: active ? theme.accent : theme.line,
    radius: 5,
    width: active ? 2 : 1,
  });
  pen.text(text, x + w / 2, y + h / 2, { size, align: "center", colour: isNull ? theme.muted : theme.ink });
}

// Which word is under a point of the picture: ["src", 3], or null.
export function wordAt({ src, tgt }, [x, y]) {
  for (const [side, line] of [
    ["src", src],
    ["tgt", tgt],
  ])
    for (const [at, box] of line.entries())
      if (x >= box.x && x <= box.x + box.w && y >= box.y - 4 && y <= box.y + box.h + 4) return [side, at];
  return null;
}
