// The heads as switches, a row a layer: each with what it is worth by itself, in colour only beyond what is usual.

import { range } from "../../../kit/js/cells.js";
import { termNode } from "../../../kit/js/definitions.js";
import { button, element, put } from "../../../kit/js/elements.js";
import { colourAt, css, luminance, scaleOf, stepOf } from "../../../kit/js/theme.js";
import { headName, headsOf, isOff, layerOf, toggle, turn } from "./choice.js";

export const USUAL = 2; // spreads: within them a head does what it usually does
const FULL_SPREADS = 8; // where a colour is full

export function paintBoard(app) {
  const { groups } = app.payload.header;
  const key = JSON.stringify(groups.map(({ kind, layers, heads }) => [kind, layers, heads]));
  if (app.boardKey !== key) {
    app.boardKey = key;
    app.switches = new Map();
    app.parts.board.replaceChildren(...groups.map((group) => groupNode(app, group)));
  }
  for (const [place, group] of groups.entries()) {
    headsOf(group).forEach((name, at) => paintSwitch(app, group, name, at));
    const isChanged = headsOf(group).some((name) => isOff(app, name));
    app.parts.board.children[place].classList.toggle("changed-group", isChanged);
  }
  const first = [...app.switches.values()].find(({ node }) => node.tabIndex === 0);
  if (!first) [...app.switches.values()][0].node.tabIndex = 0;
  for (const node of app.parts.board.querySelectorAll("button")) node.disabled = app.lacks.has("off"); // to be read
}

function groupNode(app, group) {
  const title = button(group.title, {
    class: "group-title",
    title: `Every head of ${group.title}, off or on`,
    "aria-label": `Every head of ${group.title}, off or on`,
    onclick: () => toggle(app, headsOf(group)),
  });
  const rows = range(group.layers).flatMap((layer) => [
    button(`L${layer}`, {
      class: "layer-name",
      title: layerTitle(group, layer),
      "aria-label": layerTitle(group, layer),
      onclick: () => toggle(app, layerOf(group, layer)),
    }),
    ...range(group.heads).map((head) => switchNode(app, group, layer, head)),
  ]);
  const grid = element(
    "div",
    { class: "switch-grid", style: `grid-template-columns: max-content repeat(${group.heads}, minmax(0, 1fr))` },
    element("span"),
    ...range(group.heads).map((head) => element("span", { class: "quiet head-name", text: `H${head}` })),
    ...rows,
  );
  return element("section", { class: "kind-group", "aria-label": group.title }, title, grid);
}

function layerTitle({ numbers, title }, layer) {
  const own = numbers.length ? ` (layer ${numbers[layer]} of the model)` : "";
  return `Every head of ${title} L${layer}${own}, off or on`;
}

function switchNode(app, group, layer, head) {
  const name = headName(group, layer, head);
  const node = button("", { class: "switch", role: "switch", tabindex: "-1", "data-name": name });
  node.onclick = (event) => {
    if (event.detail === 0) toggle(app, [name]); // by keyboard; a pointer drags
  };
  node.onfocus = () => {
    for (const { node: other } of app.switches.values()) other.tabIndex = other === node ? 0 : -1;
  };
  app.switches.set(name, { node, group, layer, head });
  return node;
}

// A head's worth in the chosen unit: the colour is grey within what is usual.
export function worthOf(app, group, at) {
  const unit = app.view.shade === "usual" && group.spreads ? "usual" : "nats";
  const value = (unit === "usual" ? group.spreads : group.nats)?.[at] ?? null;
  const isUsual = unit === "usual" && value !== null && Math.abs(value) <= USUAL;
  const { full, is_signed } = app.payload.header.unit;
  return {
    unit,
    value,
    isUsual,
    full: unit === "usual" ? FULL_SPREADS : full,
    isSigned: unit === "usual" || is_signed,
  };
}

export function tintOf(app, { value, isUsual, full, isSigned }) {
  if (value === null || isUsual) return null;
  return colourAt(scaleOf(app, isSigned ? "diverging" : "sequential"), stepOf(value, isSigned ? -full : 0, full));
}

export const worthText = ({ value, unit }) =>
  value === null
    ? ""
    : unit === "nats"
      ? value.toFixed(3).replace("-0.000", "0.000").replace("0.", ".").replace("-", "−")
      : signed(value);

const signed = (value) => value.toFixed(1).replace("-0.0", "0.0").replace("-", "−");

function paintSwitch(app, group, name, at) {
  const { node, layer, head } = app.switches.get(name);
  const off = isOff(app, name);
  const worth = worthOf(app, group, at);
  const tint = tintOf(app, worth);
  put(node, worthText(worth) || (off ? "off" : "·"));
  node.setAttribute("aria-checked", String(!off));
  node.style.background = tint && !off ? css(tint) : "";
  node.style.color = tint && !off ? (luminance(tint) < 0.5 ? "#fff" : "#16161d") : "";
  const nats = group.nats?.[at];
  const spreads = group.spreads?.[at];
  const said = [
    nats === undefined || nats === null ? "" : app.payload.header.unit.said.replace("{}", nats.toFixed(4)),
    spreads === undefined || spreads === null ? "" : `${spreads.toFixed(1)} of its usual spread`,
  ].filter(Boolean);
  const label = [`${group.title} L${layer} H${head}`, off ? "off" : "on", ...said].join(", ");
  if (node.title !== label) node.title = label;
  node.setAttribute("aria-label", label);
}

// A drag turns all that it passes into what the first one became; a finger taps.
export function watchDrags(app) {
  const { board } = app.parts;
  let drag = null;
  const under = (event) => app.root.getRootNode().elementFromPoint(event.clientX, event.clientY)?.closest?.(".switch");
  const pass = (node) => {
    if (!node || drag.names.has(node.dataset.name)) return;
    drag.names.add(node.dataset.name);
    node.setAttribute("aria-checked", String(!drag.off)); // at once; Python hears of all of them together
  };
  board.addEventListener("pointerdown", (event) => {
    const node = event.target.closest(".switch");
    if (!node || node.disabled || event.button !== 0 || event.pointerType === "touch") return;
    drag = { off: !isOff(app, node.dataset.name), names: new Set() };
    pass(node);
  });
  board.addEventListener("pointermove", (event) => drag && event.buttons && pass(under(event)));
  const end = () => {
    if (!drag) return;
    const { names, off } = drag;
    drag = null;
    turn(app, [...names], off);
  };
  board.addEventListener("pointerup", end);
  board.addEventListener("pointerleave", end);
  board.addEventListener("click", (event) => {
    const node = event.target.closest(".switch");
    if (node && event.pointerType === "touch") toggle(app, [node.dataset.name]);
  });
}

export const boardLegend = (app) => {
  const { header } = app.payload;
  if (app.view.shade === "usual" && header.usual)
    return [
      termNode("What each head is worth", "worth"),
      ` when switched off alone, in units of its spread over ${header.usual} sentences. Grey: within ±${USUAL}; full colour from ±${FULL_SPREADS}.`,
    ];
  if (!header.groups[0].nats) return [header.waits];
  return [termNode("What each head is worth", "worth"), ` when switched off alone, ${header.unit.legend}`];
};
