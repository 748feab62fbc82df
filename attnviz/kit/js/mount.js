// How a widget stands in whatever holds it: docs/developing/how-it-works.md, "A widget's contract". Its default export is
// called for each place, again on the same place whenever there is other data, a view or a theme to draw; what it returns
// takes the widget away. `start(root)` builds it, `receive(app, data, view)` draws. `source()` is the widget itself, as a
// file of its own holds it (files/html_file.js).

import { attach, detach } from "./attached.js";
import { streamlit } from "./hosts/streamlit.js";

// What a host need not have: one that says nothing leaves its height to the picture, hears its keys alone, and has no
// drawing of the model.
const BARE = { report: () => {}, height: () => null, isBusy: () => false, lacks: ["drawing"] };

export const mount =
  (start, receive) =>
  ({ parentElement, data, setStateValue, host, view, source }) => {
    const root = parentElement.querySelector("[lang=und]");
    if (!root || !data) return;
    const app = (root.attnviz ??= start(root));
    app.host = host ? { ...BARE, keys: root, ...host } : streamlit(root, setStateValue);
    if (host) (root.getRootNode().host ?? root).setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's
    Object.assign(app, { data, source });
    attach(app);
    receive(app, data, view);
    return () => detach(app);
  };
