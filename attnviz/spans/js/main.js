// Which part of a prompt the answer looks at, and which it needs (kit/js/store.js, kit/js/base/tab.js).

import { windowFit } from "../../kit/js/base/picture.js";
import { tab } from "../../kit/js/base/tab.js";
import { AT_ONCE, settle } from "./choice.js";
import { csvRows, figure, figureName, figureSize, moreFiles, siteOf } from "./figure.js";
import { buildShell, paint } from "./shell.js";

export default tab({
  atOnce: AT_ONCE,
  settle,
  buildShell,
  paint,
  fit: windowFit(640),
  siteOf,
  figure,
  figureSize,
  figureName,
  csvRows,
  moreFiles,
});
