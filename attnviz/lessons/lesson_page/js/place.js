// A widget's place on a lesson's page: a shadow root of its own (docs/developing/how-it-works.md, "A widget's contract").

import { element } from "../../../kit/js/elements.js";

const MARGIN = 44; // pixels below a picture, for the line there
const isNarrow = () => matchMedia("(max-width: 860px)").matches;

// Builds a place for the widget in `node`. What is returned draws data there, and again when called again; `more` goes
// along with them. `end` takes the widget away.
export function placeIn(node, { html, style, make }, report) {
  const { default: draw } = make();
  const source = () => ({ html, style, module: `(${make})()` }); // as text, for a file of its own
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  const shadow = node.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [sheet];
  const parentElement = element("div");
  parentElement.innerHTML = html;
  shadow.append(parentElement);
  const host = { report, height };
  let cleanUp = () => {};
  return {
    show: (data, more = {}) =>
      (cleanUp = draw({ parentElement, data, host, setStateValue: report, source, ...more }) ?? cleanUp),
    end: () => cleanUp(),
  };
}

// The window beside the text; on a phone, where the page scrolls, as high as the picture has to be.
function height(root, least) {
  if (isNarrow()) return null;
  const { top } = root.getBoundingClientRect();
  return Math.max(least, Math.floor(innerHeight - Math.max(0, top + scrollY) - MARGIN));
}
