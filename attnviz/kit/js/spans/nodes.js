// Spans among tokens that are elements: each token is marked, and a span's first has its name before it.

import { element } from "../elements.js";
import { isTemplate, spanAt } from "./spans.js";

// A line below a token that somebody speaks; a template's own is in italics.
export function markToken(node, spans, at) {
  const span = spanAt(spans, at);
  node.classList.toggle("spoken", Boolean(span));
  node.classList.toggle("in-template", isTemplate(spans, at));
  if (span) node.dataset.role = span.role;
  else delete node.dataset.role;
}

export const nameNode = ({ name, role }) => element("span", { class: "span-name", "data-role": role, text: name });

// A band beside a column of tokens, for the widget to place: it knows which rows it covers.
export const bandNode = ({ name, role, start, end }) =>
  element("div", {
    class: "span-band",
    "data-role": role,
    "data-start": start,
    "data-end": end,
    "aria-hidden": "true",
    title: name,
    text: name,
  });

// The tokens of a line, and the name of each span before its first.
export const withNames = (tokens, spans = []) =>
  tokens.flatMap((token, at) => [...spans.filter(({ start }) => start === at).map(nameNode), token]);
