// Every head as a switch, and what the model does without those that are off: who does what (shared/js/store.js).

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
