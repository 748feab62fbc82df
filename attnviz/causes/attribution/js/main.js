// A logit as bars of what adds to it, one of them opened, and the prediction after each layer (kit/js/store.js, kit/js/base/tab.js).

import { tab } from "../../../kit/js/base/tab.js";
import { AT_ONCE, settle } from "./choice.js";
import { csvRows, figure, figureName, figureSize, moreFiles, siteOf } from "./figure.js";
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
  moreFiles,
});
