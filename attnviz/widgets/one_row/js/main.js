// One row of the maps in every head: a strip a head, layer after layer (shared/js/store.js, base/js/tab.js).

import { tab } from "../../base/js/tab.js";
import { csvRows, figure, figureName, figureSize, siteOf } from "./figure.js";
import { AT_ONCE, settle } from "./layout.js";
import { buildShell, paint } from "./shell.js";

export default tab({
  atOnce: AT_ONCE,
  settle,
  buildShell,
  paint,
  siteOf,
  figure,
  figureSize,
  figureName,
  csvRows,
});
