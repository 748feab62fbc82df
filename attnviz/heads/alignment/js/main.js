// Words of the target and the source words that they come from (kit/js/store.js, kit/js/base/tab.js).

import { tab } from "../../../kit/js/base/tab.js";
import { AT_ONCE } from "./choice.js";
import { csvRows, figure, figureName, figureSize, savePharaoh, siteOf } from "./figure.js";
import { buildShell, paint } from "./shell.js";

export default tab({
  atOnce: AT_ONCE,
  buildShell,
  paint,
  siteOf,
  figure,
  figureSize,
  figureName,
  csvRows,
  moreFiles: [["Pharaoh links", savePharaoh]],
});
