// Two runs side by side: the heads that changed most, and both maps of one of them (kit/js/store.js, kit/js/base/tab.js).

import { tab } from "../../../kit/js/base/tab.js";
import { settle } from "./choice.js";
import { csvRows, figure, figureName, figureSize, siteOf } from "./figure.js";
import { buildShell, paint } from "./shell.js";

export default tab({
  atOnce: ["layer", "head", "kind"], // a long text's maps come head by head
  settle,
  buildShell,
  paint,
  siteOf,
  figure,
  figureSize,
  figureName,
  csvRows,
  isWhole: ({ payload: { header } }) =>
    header.maps.length === header.groups.reduce((sum, { layers, heads }) => sum + layers * heads, 0),
});
