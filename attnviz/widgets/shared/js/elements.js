// Small pieces of DOM. Text goes in as text, never as markup.

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node[name] = value;
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

// Text that is there already is left alone: setting it again would lay the page out again.
function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const button = (text, attributes = {}) => element("button", { type: "button", text, ...attributes });

const group = (...nodes) => element("div", { class: "group", role: "group" }, ...nodes);

function select(label, { key = "", onchoose }) {
  const list = element("select", { "aria-label": label });
  list.onchange = () => onchoose(list.value);
  const node = element("label", { class: "pick" }, element("span", { text: label }), list);
  explained(node, label, key);
  return { node, list };
}

function fillSelect({ list }, options, value) {
  const key = JSON.stringify(options);
  if (list.dataset.options !== key) {
    list.dataset.options = key;
    list.replaceChildren(...options.map(([id, text]) => element("option", { value: id, text })));
  }
  list.value = value;
}

// Numbers that people read: five significant digits, and no long tails of zeros.
function exactText(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size < 1e-4 ? value.toExponential(4) : value.toPrecision(5);
}

const shortText = (value) =>
  value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);

// Names of sites as people read them: layers and heads count from 0.
function siteName(layer, head) {
  if (layer === "mean" && head === "mean") return "mean of all heads";
  if (head === "mean") return `L${layer} mean over heads`;
  if (layer === "mean") return `H${head} mean over layers`;
  return `L${layer} H${head}`;
}

const rowName = ([input, output]) => (output === null ? input : input === null ? output : `${input} → ${output}`);

// Direction isolates keep right-to-left tokens from reordering the words around them.
const isolated = (text) => `\u2068${text}\u2069`;
