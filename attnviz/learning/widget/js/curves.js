// The curves of a run: loss against what a guess costs, and both exact matches, as far as the training has come.

import { canvasPen, sharpContext } from "../../../kit/js/pens/canvas_pen.js";
import { css, mix } from "../../../kit/js/theme.js";
import { boxOf } from "./boxes.js";
import { isImages } from "./images.js";
import { drawScores, isTranslator } from "./translator.js";

const TEXT = 10.5;
const MARGIN = { left: 34, right: 36, top: 12, bottom: 18 };
// Teacher's prefix and own prefix: the pair that stays apart for every kind of colour blindness.
const COLOURS = { light: { teacher: "#bf6d2b", own: "#4f46e5" }, dark: { teacher: "#f0a35b", own: "#9a92ff" } };

export const colourOf = (app, name) => COLOURS[app.theme.name][name];

export function curveGeometry(run, [width, height]) {
  const { guess, updates } = run.about;
  const highest = Math.max(guess, ...run.moments.map(({ loss }) => loss ?? 0)) * 1.16;
  const w = width - MARGIN.left - MARGIN.right;
  const h = height - MARGIN.top - MARGIN.bottom;
  const y = (part) => MARGIN.top + (1 - part) * h;
  return {
    left: MARGIN.left,
    right: MARGIN.left + w,
    top: MARGIN.top,
    bottom: MARGIN.top + h,
    x: (step) => MARGIN.left + (step / Math.max(1, updates)) * w,
    yLoss: (loss) => y(loss / highest),
    yShare: (share) => y(share),
    stepAt: (x) => Math.max(0, Math.min(updates, ((x - MARGIN.left) / w) * updates)),
  };
}

export function paintCurves(app, pane) {
  const { run, at, parts } = pane;
  const size = boxOf(parts.curvesBox);
  if (!size[0] || !size[1]) return;
  const context = sharpContext(parts.curves, size);
  drawCurves(app, canvasPen(context, app.theme), { run, at, size });
}

export function drawCurves(app, pen, { run, at, size }) {
  const place = curveGeometry(run, size);
  const so = run.moments.slice(0, at + 1);
  drawGap(app, pen, so, place);
  drawFrame(app, pen, run, place);
  const curve = (name, y, look) =>
    pen.path(
      so.filter((m) => m[name] !== null).map((m) => [place.x(m.step), y(m[name])]),
      look,
    );
  curve("loss", place.yLoss, { stroke: app.theme.faint, width: 1.5 });
  if (isTranslator(run)) drawScores(app, pen, run, so, place);
  curve("own", place.yShare, { stroke: colourOf(app, "own"), width: 2.5 });
  if (!isImages(run)) curve("teacher", place.yShare, { stroke: colourOf(app, "teacher"), width: 2.5, dash: [6, 4] });
  const x = place.x(run.moments[at].step);
  pen.line(x, place.top, x, place.bottom, { stroke: app.theme.muted });
}

function drawFrame(app, pen, run, place) {
  const { theme } = app;
  const { left, right, top, bottom } = place;
  const quiet = { size: TEXT, colour: theme.muted };
  pen.box(left, top, right - left, bottom - top, { stroke: theme.line });
  const { guess, floor, words, vocabulary, updates } = run.about;
  const entries = vocabulary?.toLocaleString("en") ?? words.length;
  rule(app, pen, place, guess, { text: `guessing: ln ${entries} = ${guess.toFixed(2)}` });
  if (floor !== null)
    rule(app, pen, place, floor, {
      text: `lowest loss possible without seeing the answers: ${floor.toFixed(4)}`,
      below: true,
    });
  pen.text("0", left - 5, bottom - 4, { ...quiet, align: "right" });
  pen.text("loss", left - 5, top + 5, { ...quiet, align: "right" });
  const unit = isTranslator(run) ? "" : "%";
  pen.text(`100${unit}`, right + 3, top + 4, quiet);
  pen.text(`0${unit}`, right + 3, bottom - 4, quiet);
  pen.text("0", left, bottom + 10, quiet);
  pen.text(`${updates.toLocaleString("en")} updates`, right, bottom + 10, { ...quiet, align: "right" });
}

// A reference loss, named on the side that no honest loss reaches, if the name fits.
function rule(app, pen, { left, right, bottom, yLoss }, loss, { text, below }) {
  const y = yLoss(loss);
  const beside = below && y + 2 * TEXT < bottom ? 8 : -7;
  const ends = [left, right].map((x) => [x, y]);
  pen.path(ends, { stroke: app.theme.faint, dash: [2, 3] });
  pen.text(text, right - 5, y + beside, { size: TEXT, colour: app.theme.muted, align: "right" });
}

// The gap between both matches: answers that were seen, not found.
function drawGap(app, pen, so, { x, yShare }) {
  const fill = css(mix(app.theme.inkRGB, app.theme.paperRGB, 0.08));
  for (let i = 1; i < so.length; i++) {
    const { teacher, own, step } = so[i];
    const from = x(so[i - 1].step);
    if (teacher > own) pen.box(from, yShare(teacher), x(step) - from + 0.5, yShare(own) - yShare(teacher), { fill });
  }
}
