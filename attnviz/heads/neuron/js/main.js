// One query and one key, number by number (kit/js/store.js, kit/js/base/tab.js).

import { tab } from "../../../kit/js/base/tab.js";
import { AT_ONCE, settle } from "./dot_product.js";
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
