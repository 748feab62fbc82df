// Words that have a definition: pointed at, focused or touched, they say what they mean. Python sends the definitions.

const BUBBLE_MOST = 320;

// `name` is the term as the glossary has it, where the words on screen are others.
function term(app, text, name = text) {
  const node = element("span", { class: "term", tabindex: "0", "data-term": name, text });
  const show = () => showTerm(app, node), hide = () => hideTerm(app);
  Object.assign(node, { onpointerenter: show, onfocus: show, onpointerleave: hide, onblur: hide });
  // A finger leaves at once what it has touched: what it asked for stays until something else is touched.
  node.onclick = (event) => { event.stopPropagation(); show(); };
  node.onkeydown = (event) => { if (event.key === "Escape") hide(); };
  return node;
}

const meaningOf = (app, { dataset: { term, more } }) => [app.payload.header.terms[term], more].filter(Boolean).join(" ");

function showTerm(app, node) {
  const { bubble } = app.parts, root = app.root.getBoundingClientRect(), at = node.getBoundingClientRect();
  bubble.textContent = meaningOf(app, node);
  bubble.hidden = false;
  const width = Math.min(BUBBLE_MOST, root.width - 8);
  bubble.style.width = `${width}px`;
  bubble.style.left = `${Math.max(4, Math.min(at.left - root.left, root.width - width - 4))}px`;
  bubble.style.top = `${at.bottom - root.top + 6}px`;
}

function hideTerm(app) {
  if (!app.root.querySelector(".term:focus:hover")) app.parts.bubble.hidden = true;
}

// For who hears the page: each term's own description.
function describeTerms(app) {
  for (const node of app.root.querySelectorAll(".term")) node.setAttribute("aria-description", meaningOf(app, node));
}
