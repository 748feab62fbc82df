// The pane on the right: tools, pinned heads, the maps, the bars of a row, the legend.

function focusPane(app, parts) {
  parts.title = element("h2");
  parts.question = element("span", { class: "quiet" });
  parts.coarse = element("span", {
    class: "coarse",
    hidden: true,
    title: "Drawn from the overview's eight bits; the exact numbers are on their way.",
  });
  const said = element("div", { class: "said" }, parts.title, parts.question, parts.coarse);
  const head = element("header", { class: "spread" }, said, outputTools(app, parts));
  parts.map = element("canvas", { role: "img", class: "map" });
  parts.overlay = element("canvas", { class: "overlay", "aria-hidden": "true" });
  parts.tip = element("div", { class: "tip", hidden: true });
  parts.mapBox = element("div", { class: "map-box", tabindex: "-1" }, parts.map, parts.overlay, parts.tip);
  return element(
    "section",
    { class: "pane focus", "aria-label": "Head in focus" },
    head,
    focusTools(app, parts),
    pinPane(app, parts),
    element("div", { class: "focus-body" }, parts.mapBox, barsPane(app, parts)),
    legendPane(app, parts),
  );
}

function toggle(app, name, text, { title, patch }) {
  app.parts[name] = button(text, { title, "aria-pressed": "false", onclick: () => change(app, patch(app.view)) });
  return app.parts[name];
}

function outputTools(app, parts) {
  return element(
    "div",
    { class: "tools" },
    exportMenu(app, EXPORTS),
    group(
      toggle(app, "plotly", "Plotly", {
        title: "The same map as a Plotly figure, below",
        patch: ({ plotly }) => ({ plotly: !plotly }),
      }),
      toggle(app, "table", "Table", {
        title: "The same numbers as a table, below",
        patch: ({ table }) => ({ table: !table }),
      }),
    ),
  );
}

function focusTools(app, parts) {
  parts.specials = select("Specials", {
    title: "Special tokens (s)",
    onchoose: (specials) => change(app, { specials }),
  });
  parts.range = select("Range", {
    title: "What the colours span",
    onchoose: (choice) => change(app, { sink: choice === "sink", scale: choice === "max" ? "max" : "fixed" }),
  });
  parts.pin = button("+ Pin", {
    title: "Keep this head to compare (Enter)",
    class: "strong",
    onclick: () => togglePin(app),
  });
  return element(
    "div",
    { class: "tools" },
    group(
      toggle(app, "meanHeads", "Mean heads", {
        title: "Average over the heads of a layer (a)",
        patch: () => overHeads(app),
      }),
      toggle(app, "meanLayers", "Mean layers", { title: "Average over layers (l)", patch: () => overLayers(app) }),
    ),
    toggle(app, "mask", "Mask", {
      title: "Hatch the keys that may not be seen (m)",
      patch: ({ mask }) => ({ mask: !mask }),
    }),
    toggle(app, "words", "Words", { title: "Merge pieces into words (w)", patch: ({ words }) => ({ words: !words }) }),
    parts.specials.node,
    parts.range.node,
    parts.pin,
  );
}

function pinPane(app, parts) {
  parts.pinList = element("div", { class: "pins" });
  parts.compare = element("div", { class: "group", role: "group", "aria-label": "Compare" }, ...compareButtons(app));
  return (parts.pinBar = element(
    "div",
    { class: "tools pin-bar", hidden: true },
    element("span", { class: "quiet", text: "Pinned" }),
    parts.pinList,
    parts.compare,
  ));
}

function barsPane(app, parts) {
  parts.barsTitle = element("h3");
  parts.barsOrder = button("by weight", {
    class: "link",
    title: "Order of the bars",
    onclick: () => change(app, { bars: app.view.bars === "position" ? "weight" : "position" }),
  });
  parts.barsOf = element("p", { class: "bars-of" });
  parts.barsRow = element("p", { class: "quiet bars-row" });
  parts.barsEmpty = element("p", {
    class: "quiet",
    text: "Click a row of the map, or a token above, to keep its exact weights here. Point at one to look at it.",
  });
  parts.bars = element("ol", { class: "bars", tabindex: "0", "aria-label": "Weights of the row" });
  parts.barsSum = element("p", { class: "quiet sum" });
  return element(
    "aside",
    { class: "bars-pane", "aria-label": "Pinned row" },
    element("header", {}, parts.barsTitle, parts.barsOrder),
    parts.barsOf,
    parts.barsRow,
    parts.barsEmpty,
    parts.bars,
    parts.barsSum,
  );
}

function legendPane(app, parts) {
  parts.rangeLow = element("span");
  parts.rangeHigh = element("span");
  parts.legend = element("canvas", { class: "scale", role: "img", "aria-label": "Colour scale" });
  parts.note = element("span", { class: "note" });
  const link = (text, title, onclick) => button(text, { class: "link", title, onclick });
  parts.zoomIn = link("zoom in", "Zoom in (+), or drag a box on the map", () => zoomBy(app, ZOOM_STEP));
  parts.zoomOut = link("zoom out", "Zoom out (−)", () => zoomBy(app, 1 / ZOOM_STEP));
  parts.whole = link("whole map", "The whole map (0)", () => change(app, { zoom: null }));
  return element(
    "footer",
    { class: "quiet legend" },
    parts.rangeLow,
    parts.legend,
    parts.rangeHigh,
    parts.note,
    element("span", { class: "zoom" }, parts.zoomIn, parts.zoomOut, parts.whole),
  );
}
