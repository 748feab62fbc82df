// Every head as a small square: a click chooses it or lets it go. Layers stand below each other.

function paintSquares(app) {
  const { header } = app.payload;
  const width = app.parts.squares.clientWidth;
  const key = [header.base, app.theme.key, width].join("|");
  if (app.squaresKey !== key) {
    app.squaresKey = key;
    buildSquares(app, width);
  }
  const places = new Map(app.view.heads.map(([layer, head], place) => [`${layer}.${head}`, place]));
  for (const [name, node] of app.squares) {
    const place = places.get(name);
    const pressed = String(place !== undefined);
    if (node.getAttribute("aria-pressed") !== pressed) node.setAttribute("aria-pressed", pressed);
    node.style.setProperty("--hue", place === undefined ? "transparent" : hueOf(app, place));
  }
}

function buildSquares(app, width) {
  const [layers, heads] = app.payload.header.shape;
  const side = Math.max(11, Math.min(34, Math.floor((width - 30) / heads) - 3));
  const held = app.root.getRootNode().activeElement?.dataset?.head;
  app.squares = new Map();
  const nodes = range(layers).flatMap((layer) => [
    button(`L${layer}`, {
      class: "link layer",
      title: `All heads of layer ${layer}, or none`,
      onclick: () => ofLayer(app, layer),
    }),
    ...range(heads).map((head) => squareNode(app, layer, head)),
  ]);
  app.parts.squares.style.gridTemplateColumns = `26px repeat(${heads}, ${side}px)`;
  app.parts.squares.style.setProperty("--side", `${side}px`);
  app.parts.squares.replaceChildren(...nodes);
  app.squares.get(held)?.focus();
}

function squareNode(app, layer, head) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const name = `L${layer} H${head}`;
  const node = element("button", { type: "button", class: "square", title: name, "aria-label": name }, canvas);
  node.dataset.head = `${layer}.${head}`;
  node.tabIndex = layer || head ? -1 : 0;
  node.onclick = () => toggleHead(app, layer, head);
  node.onkeydown = (event) => walkSquares(app, event, layer, head);
  app.squares.set(node.dataset.head, node);
  drawSquare(app, canvas, layer, head);
  return node;
}

function drawSquare(app, canvas, layer, head) {
  const { header, array } = app.payload;
  const { offset, height, width } = header.squares;
  const cells = array(Uint8Array, offset + (layer * header.shape[1] + head) * height * width, height * width);
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d").putImageData(imageOf(cells, [height, width], scaleOf(app, "sequential"), [0, 255]), 0, 0);
}

function toggleHead(app, layer, head) {
  const others = app.view.heads.filter(([l, h]) => l !== layer || h !== head);
  change(app, { heads: others.length < app.view.heads.length ? others : [...others, [layer, head]] });
}

function ofLayer(app, layer) {
  const [, heads] = app.payload.header.shape;
  const own = app.view.heads.filter(([l]) => l === layer);
  const others = app.view.heads.filter(([l]) => l !== layer);
  change(app, { heads: own.length === heads ? others : [...others, ...range(heads).map((head) => [layer, head])] });
}

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function walkSquares(app, event, layer, head) {
  const [down, right] = STEPS[event.key] ?? [];
  const next = app.squares.get(`${layer + down}.${head + right}`);
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
