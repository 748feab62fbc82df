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

// Given to the visitor as a file, `parts` after each other.
export function saveFile(name, parts, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob(parts, { type })), download: name });
  document.body.append(link); // where a page hears of it that saves files by itself, as VS Code's
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Scrolls the box alone as far as shows the node: scrollIntoView would move the whole page. Of the box's top, `covered`
// pixels are covered by a heading.
export function showWithin(box, node, covered = 0) {
  const [outer, inner] = [box.getBoundingClientRect(), node.getBoundingClientRect()];
  if (inner.top < outer.top + covered) box.scrollTop -= outer.top + covered - inner.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}
