// The files of a folder, each a plain script: modules and data do not load from file://.

import { element } from "../../../kit/js/elements.js";

const loaded = new Map();

// Runs a script once; fails where it is not there.
export function script(src) {
  if (!loaded.has(src))
    loaded.set(
      src,
      new Promise((done, failed) => {
        const onerror = () => failed(new Error(src));
        document.head.append(element("script", { src, onload: done, onerror }));
      }),
    );
  return loaded.get(src);
}
