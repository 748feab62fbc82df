// Spans by hand, as the address has them (attnviz/spans/span_rules.py): name=start-end;name=start-end.

const LONGEST = 60; // letters of a name

export const writeSpans = (spans) =>
  spans.map(({ name, start, end }) => `${encodeURIComponent(wellFormed(name))}=${start}-${end}`).join(";");

// What cannot be written as UTF-8 becomes the sign for that, so that no name is an error.
const wellFormed = (text) => text.replace(/\p{Surrogate}/gu, "\ufffd");

// oxlint-disable-next-line no-control-regex -- they are what is taken out
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
export const cleanName = (text) => [...text.replace(CONTROLS, " ").trim()].slice(0, LONGEST).join("").trim();

// A new span takes its tokens from those that had them; one that is cut in two keeps its name on the left.
export function withSpan(spans, start, end) {
  const left = [];
  for (const span of spans) {
    const pieces = [
      { ...span, end: Math.min(span.end, start) },
      { ...span, start: Math.max(span.start, end) },
    ].filter((piece) => piece.start < piece.end);
    left.push(...(span.end <= start || span.start >= end ? [span] : pieces));
  }
  const made = { name: freshName(left), start, end, role: "" };
  return { spans: apart([...left, made].sort((one, other) => one.start - other.start)), made };
}

function freshName(spans) {
  const taken = new Set(spans.map(({ name }) => name));
  let number = 1;
  while (taken.has(`span ${number}`)) number += 1;
  return `span ${number}`;
}

// No two spans have one name.
export function apart(spans) {
  const taken = new Set();
  return spans.map((span) => {
    let { name } = span;
    for (let number = 2; taken.has(name); number++) name = `${span.name} (${number})`;
    taken.add(name);
    return { ...span, name };
  });
}

export const withoutSpan = (spans, at) => spans.filter((_, other) => other !== at);

export function renamed(spans, at, text) {
  const name = cleanName(text);
  if (!name || name === spans[at].name) return spans;
  const others = new Set(withoutSpan(spans, at).map((span) => span.name));
  let unique = name;
  for (let number = 2; others.has(unique); number++) unique = `${name} (${number})`;
  return spans.map((span, other) => (other === at ? { ...span, name: unique } : span));
}
