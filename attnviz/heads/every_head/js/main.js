// Every head of every layer in one picture, each as a map, as lines or as one row (kit/js/store.js, kit/js/base/tab.js).

import { tab } from "../../../kit/js/base/tab.js";
import { csvRows, figure, figureName, figureSize, siteOf } from "./figure.js";
import { AT_ONCE, settle } from "./form.js";
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
