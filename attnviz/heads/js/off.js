// Heads that are off: what they gather becomes zero before W_o. The browser marks them at once; Python runs the model
// without them (attnviz/heads/page/choices.py).

import { sitesOf } from "../../kit/js/cells.js";
import { siteName } from "../../kit/js/text.js";
import { choose } from "./choice.js";
import { siteKey } from "./payload.js";

export const isOff = ({ view }, ...site) => view.off.some((off) => siteKey(...off) === siteKey(...site));

// The heads that are in focus: of a mean, all that it is the mean of.
function inFocus({ view, payload }) {
  const kind = payload.kinds.get(view.kind);
  return sitesOf(kind, view.layer, view.head).map(([layer, head]) => [view.kind, layer, head]);
}

const isFocusOff = (app) => inFocus(app).every((site) => isOff(app, ...site));

// Text of the switch, by the head in focus; for a mean it switches all heads that it averages.
export function switchText(app) {
  const { layer, head } = app.view;
  const sites = inFocus(app);
  const name = sites.length === 1 ? siteName(sites[0][1], sites[0][2]) : switchedTogether(layer, head);
  return `Switch ${name} ${isFocusOff(app) ? "on" : "off"}`;
}

const switchedTogether = (layer, head) =>
  layer === "mean" && head === "mean" ? "all heads" : head === "mean" ? `all of L${layer}` : `H${head} of all layers`;

// Why no head can be switched off here; "" where it can.
export const fixedHeads = ({ payload }) => payload.header.fixed ?? "";

export function toggleOff(app) {
  if (fixedHeads(app)) return;
  const sites = inFocus(app);
  const keys = new Set(sites.map((site) => siteKey(...site)));
  const others = app.view.off.filter((site) => !keys.has(siteKey(...site)));
  choose(app, { off: isFocusOff(app) ? others : [...others, ...sites] });
}

// The note on a drawn map whose heads are off.
export function offNote(app, { kind, layer, head, pair }) {
  const sites = pair ?? sitesOf(kind, layer, head).map(([l, h]) => [kind.kind, l, h]);
  const off = sites.filter((site) => isOff(app, ...site)).length;
  if (!off) return "";
  const which =
    off < sites.length
      ? `${off} of ${sites.length} heads are off`
      : sites.length > 1
        ? "these heads are off"
        : "this head is off";
  return `${which}: what ${off > 1 ? "they read" : "it reads"} has no effect`;
}
