// What each head is drawn as: its map, small (maps.js), or one row of it (row.js). A form brings
//   label               text
//   hints               [control, text]: what can be done
//   layoutOf            `(app, [width, height])`: where each head is, as `box(layer, head)`, and how large all of it is
//   rows                `(layout)`: the heads in rows, for a screen reader
//   next                `(layout, [down, right], layer, head)`: the head that an arrow key leads to
//   cells               `(header)`: rows and columns of a head
//   draw                `(app, pen, context)`: all heads; returns as SVG what a pen has no stroke for
//   title, question, notes, cellName, bubble, siteOf, figureName, csvRows

import { isIndex } from "../../../kit/js/cells.js";
import { siteName } from "../../../kit/js/text.js";
import { MAPS } from "./maps.js";
import { ROW } from "./row.js";
import { isOff } from "./strips.js";

export const AT_ONCE = ["kind", "row", "open"]; // only Python has another row or kind, or opens a head

export const formOf = ({ payload }) => (payload.header.form === "row" ? ROW : MAPS);

export function settle({ view, payload }) {
  const [layers, heads] = payload.header.shape;
  if (!isIndex(view.layer, layers)) view.layer = 0;
  if (!isIndex(view.head, heads)) view.head = 0;
}

export const nameOf = (app, layer, head) => `${siteName(layer, head)}${isOff(app, layer, head) ? ", off" : ""}`;
