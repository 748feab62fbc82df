// One pass over the target beside decoding step by step (kit/js/base/picture.js).

import { picture } from "../../kit/js/base/picture.js";
import { paintPlayer, stopPlaying } from "../../kit/js/player.js";
import { tellPainted, tellSize } from "../../kit/js/resize.js";
import { adopt } from "../../kit/js/store.js";
import { paintCandidates } from "./candidates.js";
import { FILM, reportAfter, settle } from "./choice.js";
import { siteOf } from "./exports.js";
import { mapsText, paintMaps } from "./maps.js";
import { decodePayload } from "./payload.js";
import { refreshTip } from "./pointer.js";
import { buildShell } from "./shell.js";
import { paintSite } from "./site.js";
import { paintTraining } from "./training.js";

// Another text's steps do not go on playing.
function receive(app, before) {
  if (before && before.id !== app.payload.header.id) stopPlaying(app);
  adopt(app);
}

function paint(app, began) {
  if (!app.payload || !app.sizes.map) return;
  paintMaps(app);
  refreshTip(app);
  paintPlayer(app);
  paintSite(app);
  paintCandidates(app);
  paintTraining(app);
  app.parts.live.textContent = app.playing ? "" : mapsText(app);
  tellPainted(app, began);
}

function fit(app) {
  tellSize(app.root);
  const { mapBox } = app.parts;
  const size = [mapBox.clientWidth, mapBox.clientHeight];
  const changed = JSON.stringify(size) !== JSON.stringify(app.sizes.map);
  if (size[0] > 0) app.sizes.map = size;
  return changed && size[0] > 0;
}

export default picture({
  state: () => ({ sizes: {}, playing: null }),
  film: FILM,
  buildShell,
  decode: decodePayload,
  receive,
  settle,
  fit,
  paint,
  reportAfter,
  siteOf,
  isWhole: ({ payload }) => payload.kinds.every(({ only }) => !only),
});
