// Pieces of panes that several tabs have: the kinds to choose from, a title, a switch, a place for what is hovered.

function kindTabs(app) {
  app.parts.tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "Kind of attention" });
  return app.parts.tabs;
}

function paintKindTabs(app) {
  const { kinds, base } = app.payload.header;
  const { tabs } = app.parts;
  if (tabs.dataset.drawn !== base) {
    tabs.dataset.drawn = base;
    const tab = ([kind, text]) =>
      button(text, { role: "tab", "data-kind": kind, onclick: () => change(app, { kind }) });
    tabs.replaceChildren(...kinds.map(tab));
  }
  for (const tab of tabs.children) tab.setAttribute("aria-selected", String(tab.dataset.kind === app.view.kind));
}

const group = (...nodes) => element("div", { class: "group", role: "group" }, ...nodes);

// A few buttons of which one is pressed; `options` are [value, text, title].
function choices(app, name, options) {
  const nodes = options.map(([value, text, title]) =>
    button(text, { title, "data-value": value, onclick: () => change(app, { [name]: value }) }),
  );
  (app.groups ??= new Map()).set(name, nodes);
  return group(...nodes);
}

function paintChoices(app) {
  for (const [name, nodes] of app.groups ?? [])
    for (const node of nodes) node.setAttribute("aria-pressed", String(node.dataset.value === app.view[name]));
}

function clearedContext(canvas, [width, height]) {
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function shortened(pen, text, width, options = {}) {
  const { size = 12, weight = 400 } = options;
  if (pen.widthOf(text, size, weight) <= width) return text;
  const signs = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  while (signs.length > 1 && pen.widthOf(signs.join("") + "…", size, weight) > width) signs.pop();
  return signs.join("") + "…";
}

// What a screen reader hears, a moment after the last of several quick changes.
function announce(app, text) {
  if (text === app.announced) return;
  app.announced = text;
  clearTimeout(app.announceTimer);
  app.announceTimer = setTimeout(() => {
    app.parts.live.textContent = text;
  }, 150);
}
