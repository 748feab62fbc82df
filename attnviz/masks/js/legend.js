// The words below the maps.

import { spansNote } from "../../kit/js/spans/spans.js";
import { exactText } from "../../kit/js/text.js";
import { zoomHint, zoomText } from "./zoom_window.js";

export const legendText = (app) => coloursText(app) + zoomHint(app);

export function coloursText(app) {
  const { scores, context } = app.panels;
  const { row_spans: ofRows, spans } = app.payload.header;
  const who = spansNote(ofRows, spans);
  const bounds = (high) => `−${exactText(high)} … +${exactText(high)}`;
  return `Colours: scores ${bounds(scores.high)} · weights 0 … 1${app.payload.context ? ` · context ${bounds(context.high)}` : ""} · hatched: hidden${app.payload.indexed?.some(Boolean) ? " (some by the indexer)" : ""} · grey: NaN${zoomText(app)}${who && ` · ${who}`}`;
}
