// Patches between two runs, and how much each restores: matrices of cells to patch (shared/js/store.js, base/js/tab.js).

import { tab } from "../../base/js/tab.js";
import { AT_ONCE, settle } from "./choice.js";
import { csvRows, figure, figureName, figureSize, siteOf } from "./figure.js";
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
