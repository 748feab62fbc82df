// An output word followed back through the layers to the text (kit/js/store.js, kit/js/base/tab.js).

import { tab } from "../../../kit/js/base/tab.js";
import { csvRows, figure, figureName, figureSize, siteOf } from "./figure.js";
import { AT_ONCE, settle } from "./mixing.js";
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
