// PNG and SVG of what is drawn, CSV of the curves and of the maps as they are now; made in the browser.

import { saveCSV, savePNG, saveSVG } from "../../../kit/js/downloads.js";
import { rowName, siteName } from "../../../kit/js/text.js";
import { imageOf, scaleOf } from "../../../kit/js/theme.js";
import { kindOf, siteOf as chosenSite, stepNow } from "./choice.js";
import { drawCurves } from "./curves.js";
import { gridOf, shortName, sizeOf } from "./grid.js";
import { drawLarge } from "./large.js";
import { drawLargeImage, drawOnImage, isImages, readLines } from "./images.js";
import { mapOf, strongest } from "./runs.js";
import { isTranslator, languagesOf, scoreRows, sentenceName, sentenceNow, writtenLines } from "./translator.js";

const [WIDTH, CURVES, MAPS, LINE, MARGIN] = [520, 190, 340, 16, 12];

export const EXPORTS = [
  ["PNG picture", (app) => savePNG(app, fileName(app), figureSize(app), (pen) => figure(app, pen))],
  ["SVG picture", (app) => saveSVG(app, fileName(app), figureSize(app), (pen) => figure(app, pen))],
  ["CSV of the curves", (app) => saveCSV(`${fileName(app)}-curves`, curveRows(app))],
  ["CSV of the maps now", (app) => saveCSV(`${fileName(app)}-maps`, mapRows(app))],
];

export const siteOf = (app) => `after ${stepNow(app)} updates${sentenceSaid(app)}`;

function sentenceSaid(app) {
  const [run] = app.payload.runs;
  return isTranslator(run) ? `, maps of ${sentenceName(sentenceNow(app, run))}, teacher’s prefix` : "";
}

const fileName = (app) => `attnviz-learning-${app.payload.runs[0].name}-${stepNow(app)}`;
const drawnPanes = (app) => app.panes.filter(({ run }) => run?.moments.length);
const most = (app) => Math.max(...drawnPanes(app).map(({ run }) => run.about.lines.length));
const figureSize = (app) => [WIDTH * Math.max(1, drawnPanes(app).length), 34 + CURVES + MAPS + LINE * (most(app) + 1)];

function figure(app, pen) {
  drawnPanes(app).forEach((pane, i) => drawPane(app, shifted(pen, i * WIDTH + MARGIN, 0), pane));
}

// The same strokes further to the right and down.
function shifted(pen, dx, dy) {
  return {
    widthOf: pen.widthOf,
    text: (text, x, y, style) => pen.text(text, x + dx, y + dy, style),
    box: (x, y, w, h, look) => pen.box(x + dx, y + dy, w, h, look),
    line: (x1, y1, x2, y2, look) => pen.line(x1 + dx, y1 + dy, x2 + dx, y2 + dy, look),
    path: (points, look) =>
      pen.path(
        points.map(([x, y]) => [x + dx, y + dy]),
        look,
      ),
    image: (image, x, y, w, h) => pen.image(image, x + dx, y + dy, w, h),
  };
}

function drawPane(app, pen, pane) {
  const { run, at, drawn } = pane;
  const quiet = { size: 11, colour: app.theme.muted };
  const { teacher, own } = run.moments[at];
  const curves = isTranslator(run)
    ? [
        "loss grey",
        ...languagesOf(app, run).map(({ to, name, at: i }) => `${to} ${name} ${run.moments[at].values[i].toFixed(1)}`),
      ].join(", ")
    : isImages(run)
      ? `accuracy ${share(own)}, loss grey`
      : `teacher’s prefix (dashed) ${share(teacher)}, own prefix ${share(own)}, loss grey`;
  pen.text(run.title, 0, 16, { size: 13, weight: 600 });
  pen.text(curves, WIDTH - 2 * MARGIN, 16, {
    ...quiet,
    align: "right",
  });
  drawCurves(app, shifted(pen, 0, 28), { run, at, size: [WIDTH - 2 * MARGIN, CURVES] });
  const below = shifted(pen, 0, 28 + CURVES);
  const site = app.view.site && chosenSite(app);
  const kind = site && kindOf({ about: drawn }, site);
  const large = kind && { kind, cells: mapOf(kind, drawn.maps, site[1], site[2]), size: [WIDTH - 2 * MARGIN, MAPS] };
  if (kind && isImages(run)) drawLargeImage(app, below, run, large);
  else if (kind) drawLarge(app, below, large);
  else drawGrid(app, below, pane);
  const place = (i) => 34 + CURVES + MAPS + LINE * (i + 0.5);
  if (isTranslator(run)) return writtenLines(app, run, at).forEach((text, i) => pen.text(text, 0, place(i), quiet));
  if (isImages(run)) return readLines(run, at).forEach((text, i) => pen.text(text, 0, place(i), quiet));
  run.moments[at].said.forEach((said, i) => {
    const right = said.join(" ") === run.about.lines[i].tgt.join(" ") ? "✓" : "✗";
    pen.text(`${right} ${run.about.lines[i].src.join(" ")} → ${said.join(" ")}`, 0, place(i), quiet);
  });
}

const share = (part) => `${Math.round(part * 100)}%`;

function drawGrid(app, pen, pane) {
  const { drawn, run, at } = pane;
  const below = run.about.scores.length ? 15 : 0;
  const { side, rows } = gridOf(drawn.kinds, [WIDTH - 2 * MARGIN, MAPS], ...(below ? [] : [0]));
  const place = (i) => i * (side + 8);
  rows.forEach((row, i) =>
    row.forEach((site, j) => {
      if (!site) return;
      const [kind, layer, head] = site;
      const [x, y] = [place(j), i * (side + 26 + below)];
      const [h, w] = sizeOf(kind, side);
      const cells = mapOf(kind, drawn.maps, layer, head);
      pen.text(shortName(kind, layer, head, side), x, y + 8, { size: 10.5, colour: app.theme.muted });
      if (isImages(run)) drawOnImage(pen, run, cells, [x, y + 16, w, h]);
      else pen.image(imageOf(cells, [kind.nRows, kind.nCols], scaleOf(app, "sequential"), [0, 255]), x, y + 16, w, h);
      pen.box(x - 0.5, y + 15.5, w + 1, h + 1, { stroke: app.theme.line });
      const found = drawn.isOwn ? null : strongest(run, [kind.kind, layer, head], at);
      if (found)
        pen.text(`${found.name} ${found.value.toFixed(2)}`, x, y + 16 + h + 9, { size: 10.5, colour: app.theme.muted });
    }),
  );
}

function curveRows(app) {
  if (isTranslator(app.payload.runs[0])) return scoreRows(app.payload.runs[0]);
  const names = [...new Set(drawnPanes(app).flatMap(({ run }) => run.about.scores.map(scoreName)))];
  const lines = [["run", "updates", "loss_since_last", "held_out_loss", "teacher_prefix", "own_prefix", ...names]];
  for (const { run } of drawnPanes(app))
    for (const { step, loss, held, teacher, own, scores } of run.moments) {
      const found = new Map(run.about.scores.map((score, i) => [scoreName(score), scores[i]]));
      lines.push([run.name, step, loss ?? "", held, teacher, own, ...names.map((name) => found.get(name) ?? "")]);
    }
  return lines;
}

const scoreName = ([name, , layer, head]) => `${name} ${siteName(layer, head)}`;

// Eight bits are what is kept: each weight is a byte, 255 being 1.
function mapRows(app) {
  const lines = [
    ["run", "updates", "kind", "layer", "head", "row", "row_label", "key_position", "key", "weight_of_255"],
  ];
  for (const { run, at, drawn } of drawnPanes(app))
    for (const kind of drawn.kinds)
      for (let layer = 0; layer < kind.layers; layer++)
        for (let head = 0; head < kind.heads; head++)
          mapOf(kind, drawn.maps, layer, head).forEach((value, i) => {
            const [row, col] = [Math.floor(i / kind.nCols), i % kind.nCols];
            const label = rowName(kind.rows[row]);
            lines.push([
              run.name,
              run.moments[at].step,
              kind.kind,
              layer,
              head,
              row,
              label,
              col,
              kind.cols[col],
              value,
            ]);
          });
  return lines;
}
