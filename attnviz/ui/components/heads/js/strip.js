// The sentences on top: the keys that the active row looks at are shaded, the row's own token is ringed.

function paintStrip(app) {
  const { lines } = app.payload.header.strip;
  const node = app.parts.strip;
  if (node.dataset.drawn !== app.payload.header.base) {
    node.dataset.drawn = app.payload.header.base;
    app.tokens = lines.map((line) => line.tokens.map(([text, special]) => tokenNode(text, special)));
    node.replaceChildren(...lines.map((line, i) => lineNode(line.name, app.tokens[i])));
    node.onclick = (event) => chooseToken(app, event.target);
    app.shaded = [];
  }
  for (const token of app.shaded) clearToken(token);
  app.shaded = [];
  markQueries(app);
  shadeKeys(app);
}

const tokenNode = (text, special) => element("span", { class: special ? "token special" : "token", text, dir: "auto" });

const lineNode = (name, tokens) =>
  element(
    "div",
    { class: "line" },
    element("span", { class: "line-name", text: name }),
    element("div", { class: "tokens" }, ...tokens),
  );

function clearToken(token) {
  token.style.background = token.style.color = "";
  token.classList.remove("queried");
  token.removeAttribute("title");
}

function markQueries(app) {
  const axis = app.payload.header.strip.axes?.[app.view.kind];
  if (!axis) return;
  const kind = app.payload.kinds.get(app.view.kind);
  app.queryLine = axis.query;
  app.parts.strip.querySelectorAll(".line").forEach((line, i) => line.classList.toggle("asks", i === axis.query[0]));
  const row = activeRow(app);
  if (row === null) return;
  for (const token of kind.rowTokens[row]) touch(app, axis.query, token)?.classList.add("queried");
  bringIntoView(app.tokens[axis.query[0]]?.[kind.rowTokens[row][0] + axis.query[1]]);
}

// A long sentence scrolls in its own line; scrollIntoView would move the page too. Short ones have nothing to scroll.
function bringIntoView(token) {
  const line = token?.parentElement;
  if (!line || line.childElementCount < 24 || line.scrollHeight <= line.clientHeight) return;
  const { offsetTop, offsetHeight } = token;
  if (offsetTop < line.scrollTop || offsetTop + offsetHeight > line.scrollTop + line.clientHeight)
    line.scrollTop = offsetTop - 2;
}

function touch(app, [line, offset], token) {
  const node = app.tokens[line]?.[token + offset];
  if (node) app.shaded.push(node);
  return node;
}

function shadeKeys(app) {
  const row = activeRow(app);
  const axis = app.payload.header.strip.axes?.[app.view.kind];
  if (row === null || !axis) return;
  const { kind, map } = focusOf(app);
  const scale = scaleOf(app, "sequential");
  const { high } = rangeOf(app, [focusOf(app)]);
  for (let col = 0; col < kind.nCols; col++) {
    const weight = map.data[row * kind.nCols + col];
    for (const token of kind.colTokens[col]) shadeToken(app, touch(app, axis.key, token), { weight, high, scale });
  }
}

function shadeToken(app, node, { weight, high, scale }) {
  if (!node) return;
  node.title = exactText(weight);
  const step = stepOf(weight, 0, high);
  if (step < 8) return; // below 3 % the shade would not be seen, and the text keeps its own colour
  const rgb = colourAt(scale, step);
  node.style.background = css(rgb);
  node.style.color = luminance(rgb) > 0.48 ? "#14141f" : "#ffffff";
}

function chooseToken(app, target) {
  const [line, offset] = app.queryLine ?? [];
  const at = app.tokens[line]?.indexOf(target) ?? -1;
  if (at < 0) return;
  const { rowTokens } = app.payload.kinds.get(app.view.kind);
  const row = rowTokens.findIndex((tokens) => tokens.includes(at - offset));
  if (row >= 0) change(app, { row: row === app.view.row ? null : row });
}
