// A picture from its first moment on: built, given data, fitted into the window.

import { watchDefinitions } from "../definitions.js";
import { liveRegion } from "../live_region.js";
import { mount } from "../mount.js";
import { fillPlace, refitSoon, watchSize } from "../resize.js";
import { adopt, createApp, take } from "../store.js";
import { readTheme, watchTheme } from "../theme.js";
import { scalesIn, unpack } from "../unpack.js";

// A picture brings, besides the parts in kit/js/store.js:
//   buildShell  `(app)`: its fixed parts
// and optionally:
//   state       `()`: what `app` has at first
//   watched     `(app)`: nodes whose size matters, besides its own
//   decode      `(bytes)`: its payload
//   receive     `(app, before)`: takes over the payload's view; `before` is the header of the last payload
export function picture({ decode = decodePayload, receive = adopt, ...widget }) {
  return mount(
    (root) => begin(root, widget),
    (app, data, viewBeside) => {
      const began = performance.now();
      const payload = decode(data);
      const before = app.payload?.header;
      // Of the same picture what was made of its bytes stays.
      const same = before?.id === payload.header.id && { ...app.payload, header: payload.header };
      take(app, same || payload, viewBeside);
      readTheme(app);
      receive(app, before);
      widget.fit(app);
      widget.paint(app, began);
      refitSoon(app);
    },
  );
}

export function begin(root, widget) {
  const app = createApp(root, widget, widget.state?.());
  widget.buildShell(app);
  app.parts.live = liveRegion();
  root.append(app.parts.live);
  watchDefinitions(app);
  watchSize(app, root, ...(widget.watched?.(app) ?? []));
  watchTheme(app, () => app.widget.paint(app, performance.now()));
  return app;
}

// attnviz/kit/payload.py makes the header that the tabs beside Heads share.
function decodePayload(bytes) {
  const payload = unpack(bytes);
  return { ...payload, scales: scalesIn(payload) };
}

// As high as its host says; below `least` pixels the page scrolls.
export const windowFit = (least) => (app) => {
  const [width, height] = fillPlace(app, least);
  app.isPhone = app.root.dataset.size === "phone";
  const size = `${width}x${height}`;
  const changed = app.size !== size;
  app.size = size;
  return changed && width > 0;
};
