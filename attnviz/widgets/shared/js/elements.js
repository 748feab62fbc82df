// Small pieces of DOM. Text goes in as text, never as markup.

export function element(tag, attributes = {}, ...children) {
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
export function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const button = (text, attributes = {}) => element("button", { type: "button", text, ...attributes });

export const group = (...nodes) => element("div", { class: "group", role: "group" }, ...nodes);

// Numbers that people read: five significant digits, and no long tails of zeros.
export function exactText(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size < 1e-4 ? value.toExponential(4) : value.toPrecision(5);
}

export const shortText = (value) =>
  value === null || value === undefined || Number.isNaN(value) ? "–" : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);

// Names of sites as people read them: layers and heads count from 0.
export function siteName(layer, head) {
  if (layer === "mean" && head === "mean") return "mean of all heads";
  if (head === "mean") return `L${layer} mean over heads`;
  if (layer === "mean") return `H${head} mean over layers`;
  return `L${layer} H${head}`;
}

export const rowName = ([input, output]) =>
  output === null ? input : input === null ? output : `${input} → ${output}`;

// Direction isolates keep right-to-left tokens from reordering the words around them.
export const isolated = (text) => `\u2068${text}\u2069`;
