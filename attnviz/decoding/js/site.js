// Controls beside the player: the site whose maps are drawn, how it was decoded, and the way to Heads.

import { termNode } from "../../kit/js/definitions.js";
import { fillSelect, numbered } from "../../kit/js/lists.js";

export function paintSite(app) {
  const { parts, view } = app;
  const { way, opens } = app.payload.header;
  parts.opens.textContent = `Open step ${view.step} in Heads`;
  parts.opens.hidden = !opens;
  paintWay(app, way);
  const named = (length, letter) => [...numbered(length, letter), ["mean", "mean"]];
  const most = (name) => Math.max(...app.payload.kinds.map((kind) => kind[name]));
  fillSelect(parts.layer, named(most("layers"), "L"), String(view.layer));
  fillSelect(parts.head, named(most("heads"), "H"), String(view.head));
}

// How it was decoded, and what the maps below are.
function paintWay(app, way) {
  const {
    parts,
    payload: { header },
  } = app;
  if (app.wayKey === header.id) return;
  app.wayKey = header.id;
  const nodes = way.flatMap(([text, name], i) => [i ? " · " : "", termNode(text, name)]);
  parts.way.replaceChildren(...nodes, " · ", termNode("one pass", "One pass"), " beside ", termNode("steps", "Steps"));
}

export const siteChoice = (text) => (text === "mean" ? "mean" : Number(text));
