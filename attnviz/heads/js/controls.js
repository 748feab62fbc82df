// Tabs, switches and lists above the maps, and the legend below them.

import { paintKindTabs } from "../../kit/js/base/kind_tabs.js";
import { range } from "../../kit/js/cells.js";
import { explained } from "../../kit/js/definitions.js";
import { put } from "../../kit/js/elements.js";
import { fillSelect } from "../../kit/js/lists.js";
import { spansNote } from "../../kit/js/spans/spans.js";
import { exactText } from "../../kit/js/text.js";
import { imageOf, scaleOf } from "../../kit/js/theme.js";
import { chooseKind } from "./choice.js";
import { isPinned } from "./map/tiles.js";
import { drawnMeasure, insteadNote, isOfWeights } from "./measures.js";
import { fixedHeads, offNote, switchText } from "./off.js";
import { SPANS, paintOptions } from "./options.js";
import { metricLabel } from "./overview/overview.js";
import { paintPins } from "./pins.js";

export function paintControls(app) {
  const { view, parts, payload } = app;
  const kinds = [...payload.kinds.values()].map(({ kind, tab }) => [kind, tab]);
  paintKindTabs(app, kinds, { choose: (kind) => chooseKind(app, kind), keys: ["1", "2", "3"] });
  const metrics = payload.header.metrics.names.map(([name]) => [name, metricLabel(name)]);
  fillSelect(parts.sort, [["layout", "layer, head"], ...metrics], view.sort);
  fillSelect(parts.tint, [["none", "none"], ...metrics], view.tint);
  const { options } = payload.header;
  fillSelect(parts.specials, options.specials, view.specials);
  fillSelect(
    parts.range,
    [
      ["fixed", "0 to 1"],
      ["max", "0 to max"],
      ["sink", "no sink"],
    ],
    view.sink ? "sink" : isOfWeights(app) ? view.scale : "max",
  );
  parts.range.list.options[0].disabled = !isOfWeights(app); // what heads write is no share of 1
  fillSelect(parts.cells, options.cells, view.cells);
  const pressed = {
    mask: view.mask,
    words: Boolean(view.words) && view.words !== SPANS,
    spans: view.words === SPANS,
    plotly: view.plotly,
    table: view.table,
    meanHeads: view.head === "mean",
    meanLayers: view.layer === "mean",
    pin: isPinned(app, view.kind, view.layer, view.head),
  };
  for (const [name, on] of Object.entries(pressed)) parts[name].setAttribute("aria-pressed", String(on));
  parts.spans.hidden = !payload.header.strip.lines.some(({ spans }) => spans);
  put(parts.pin, pressed.pin ? "Unpin" : "+ Pin");
  put(parts.off, switchText(app));
  parts.off.disabled = Boolean(fixedHeads(app));
  explained(parts.off, "Switch off", "o", fixedHeads(app));
  paintOptions(app);
  parts.zoomOut.hidden = parts.whole.hidden = !view.zoom;
  paintPins(app);
  paintLegend(app);
}

function paintLegend(app) {
  const { legend, rangeLow, rangeHigh, note } = app.parts;
  const { low, high, note: about } = app.range;
  const signed = app.tiles[0].signed;
  const key = `${app.scales?.key}|${signed}`;
  if (legend.dataset.drawn !== key) {
    legend.dataset.drawn = key;
    legend.width = 256;
    legend.height = 1;
    legend.getContext("2d").putImageData(scaleImage(app), 0, 0);
  }
  put(rangeLow, signed ? `−${exactText(high)}` : exactText(low));
  put(rangeHigh, signed ? `+${exactText(high)}` : high === 1 ? "1" : exactText(high));
  put(note, legendNotes(app, about).join(" · "));
  app.parts.toMax.hidden = !app.range.isFaint;
  app.parts.toOne.hidden = signed || app.view.scale !== "max" || app.view.sink;
}

// The scale that the maps are drawn in, 256 pixels wide.
export function scaleImage(app) {
  const scale = scaleOf(app, app.tiles[0].signed ? "diverging" : "sequential");
  return imageOf(Float32Array.from(range(256)), [1, 256], scale, [0, 255]);
}

function zoomText({ view }) {
  const [top, bottom, left, right] = view.zoom;
  return `rows ${top} to ${bottom - 1}, keys ${left} to ${right - 1}`;
}

// Notes on the colours and marks of the maps.
export function figureNotes(app, about) {
  const { kind, mask, signed } = app.tiles[0];
  const { name, legend } = drawnMeasure(app);
  const drawn = insteadNote(app) || (signed ? `difference: ${name}` : legend);
  const notes = [drawn, about, kind.left_out, offNote(app, app.tiles[0]), spansNote(kind.row_spans, kind.spans)];
  if (app.view.mask) notes.push(mask ? "hatched: masked" : "no key is masked here");
  if (app.view.zoom) notes.push(zoomText(app));
  return notes.filter(Boolean);
}

// The same, and notes on the page beside them.
function legendNotes(app, about) {
  const { kind, signed } = app.tiles[0];
  const notes = figureNotes(app, about);
  if (signed === false && app.view.compare === "difference")
    notes.push("a difference needs two heads of the same kind");
  if (kind.isPooled) notes.push("thumbnails show the largest weight of each block");
  return notes;
}
