// The component's fixed parts, built once for each place in the page.

function buildShell(app) {
  const parts = (app.parts = {});
  app.root.replaceChildren(stripPane(parts), overviewPane(app, parts), focusPane(app, parts), helpPane(parts),
    (parts.live = element("div", { class: "live", "aria-live": "polite", role: "status" })));
  watchPointer(app);
  watchKeys(app);
  watchSize(app);
}

function stripPane(parts) {
  parts.strip = element("div", { class: "strip-lines" });
  return element("section", { class: "pane strip", "aria-label": "Sentences" }, parts.strip);
}

function overviewPane(app, parts) {
  parts.summary = element("span", { class: "summary" });
  parts.tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "Kind of attention" });
  parts.sort = select("Sort", { onchoose: (sort) => change(app, { sort }) });
  parts.tint = select("Tint", { onchoose: (tint) => change(app, { tint }) });
  parts.grid = element("div", { class: "avz-grid", role: "grid" });
  parts.gridBox = element("div", { class: "grid-box" }, parts.grid);
  const head = element("header", { class: "spread" }, element("h2", { text: "Every head" }), parts.tabs);
  const tools = element("div", { class: "tools" }, parts.sort.node, parts.tint.node);
  const foot = element("footer", { class: "quiet spread" }, parts.summary,
    button("? keys", { class: "link", onclick: () => { parts.help.hidden = !parts.help.hidden; } }));
  return element("section", { class: "pane overview", "aria-label": "Every head" }, head, tools, parts.gridBox, foot);
}

function focusPane(app, parts) {
  parts.title = element("h2");
  parts.question = element("span", { class: "quiet" });
  parts.coarse = element("span", { class: "coarse", hidden: true, title: "Drawn from the overview's eight bits; the exact numbers are on their way." });
  const said = element("div", { class: "said" }, parts.title, parts.question, parts.coarse);
  const head = element("header", { class: "spread" }, said, outputTools(app, parts));
  parts.map = element("canvas", { role: "img", class: "map" });
  parts.overlay = element("canvas", { class: "overlay", "aria-hidden": "true" });
  parts.tip = element("div", { class: "tip", hidden: true });
  parts.mapBox = element("div", { class: "map-box", tabindex: "-1" }, parts.map, parts.overlay, parts.tip);
  return element("section", { class: "pane focus", "aria-label": "Head in focus" }, head, focusTools(app, parts), pinPane(app, parts),
    element("div", { class: "focus-body" }, parts.mapBox, barsPane(app, parts)), legendPane(app, parts));
}

const group = (...nodes) => element("div", { class: "group" }, ...nodes);

function toggle(app, name, text, { title, patch }) {
  app.parts[name] = button(text, { title, "aria-pressed": "false", onclick: () => change(app, patch(app.view)) });
  return app.parts[name];
}

function outputTools(app, parts) {
  return element("div", { class: "tools" }, exportMenu(app, parts),
    group(toggle(app, "plotly", "Plotly", { title: "The same map as a Plotly figure, below", patch: ({ plotly }) => ({ plotly: !plotly }) }),
      toggle(app, "table", "Table", { title: "The same numbers as a table, below", patch: ({ table }) => ({ table: !table }) })));
}

function focusTools(app, parts) {
  parts.specials = select("Specials", { title: "Special tokens (s)", onchoose: (specials) => change(app, { specials }) });
  parts.range = select("Range", { title: "What the colours span", onchoose: (choice) => change(app, { sink: choice === "sink", scale: choice === "max" ? "max" : "fixed" }) });
  parts.pin = button("+ Pin", { title: "Keep this head to compare (Enter)", class: "strong", onclick: () => togglePin(app) });
  return element("div", { class: "tools" },
    group(toggle(app, "meanHeads", "Mean heads", { title: "Average over the heads of a layer (a)", patch: () => overHeads(app) }),
      toggle(app, "meanLayers", "Mean layers", { title: "Average over layers (l)", patch: () => overLayers(app) })),
    toggle(app, "mask", "Mask", { title: "Hatch the keys that may not be seen (m)", patch: ({ mask }) => ({ mask: !mask }) }),
    toggle(app, "words", "Words", { title: "Merge pieces into words (w)", patch: ({ words }) => ({ words: !words }) }),
    parts.specials.node, parts.range.node, parts.pin);
}

function exportMenu(app, parts) {
  const item = (format, text) => button(text, { role: "menuitem", onclick: () => exportAs(app, format) });
  parts.exportMenu = element("details", { class: "menu" }, element("summary", { text: "Export" }),
    element("div", { class: "menu-list", role: "menu" }, item("png", "PNG picture"), item("svg", "SVG picture"),
      item("csv", "CSV of the numbers"), item("npz", "npz of the whole trace")));
  parts.exportMenu.onfocusout = (event) => { if (!parts.exportMenu.contains(event.relatedTarget)) parts.exportMenu.open = false; };
  return parts.exportMenu;
}

function pinPane(app, parts) {
  parts.pinList = element("div", { class: "pins" });
  parts.compare = element("div", { class: "group", role: "group", "aria-label": "Compare" }, ...compareButtons(app));
  return (parts.pinBar = element("div", { class: "tools pin-bar", hidden: true }, element("span", { class: "quiet", text: "Pinned" }), parts.pinList, parts.compare));
}

function barsPane(app, parts) {
  parts.barsTitle = element("h3");
  parts.barsOrder = button("by weight", { class: "link", title: "Order of the bars", onclick: () => { app.barOrder = app.barOrder === "position" ? "weight" : "position"; paintBars(app); } });
  parts.barsRow = element("p", { class: "quiet bars-row" });
  parts.barsEmpty = element("p", { class: "quiet", text: "Click a row of the map, or a token above, to keep it here with its exact weights. Point at a row to look at it." });
  parts.bars = element("ol", { class: "bars", tabindex: "0", "aria-label": "Weights of the row" });
  parts.barsSum = element("p", { class: "quiet sum" });
  return element("aside", { class: "bars-pane", "aria-label": "Pinned row" },
    element("header", {}, parts.barsTitle, parts.barsOrder), parts.barsRow, parts.barsEmpty, parts.bars, parts.barsSum);
}

function legendPane(app, parts) {
  parts.rangeLow = element("span");
  parts.rangeHigh = element("span");
  parts.legend = element("canvas", { class: "scale", role: "img", "aria-label": "Colour scale" });
  parts.note = element("span", { class: "note" });
  parts.zoomOut = button("Whole map", { class: "link", hidden: true, onclick: () => { app.zoom = null; paint(app, performance.now()); } });
  return element("footer", { class: "quiet legend" }, parts.rangeLow, parts.legend, parts.rangeHigh, parts.note, parts.zoomOut);
}

function helpPane(parts) {
  parts.help = element("div", { class: "help", role: "dialog", "aria-label": "Keys", hidden: true }, element("h3", { text: "Keys" }), helpNode());
  return parts.help;
}
