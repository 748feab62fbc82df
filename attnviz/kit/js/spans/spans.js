// Spans along an axis, each { name, role, start, end } by its place among the axis's own rows or columns
// (attnviz/kit/payload.py). Of a conversation, what no span holds is the chat template's.

export const TEMPLATE = "chat template";

export const spanAt = (spans, at) => spans?.find(({ start, end }) => at >= start && at < end) ?? null;

export const isConversation = (spans) => Boolean(spans?.some(({ role }) => role));

export const isTemplate = (spans, at) => isConversation(spans) && !spanAt(spans, at);

// Who speaks at a place, in words; "" where that is unknown.
export const spanText = (spans, at) => spanAt(spans, at)?.name ?? (isConversation(spans) ? TEMPLATE : "");

// A label's text with who speaks, for what is read out.
export function spokenText(text, spans, at) {
  const said = spanText(spans, at);
  return said && said !== text ? `${text} (${said})` : text;
}

// The spans of a window, counted from its first place.
export const spansWithin = (spans, [from, to]) =>
  (spans ?? [])
    .map((span) => ({ ...span, start: Math.max(span.start, from) - from, end: Math.min(span.end, to) - from }))
    .filter(({ start, end }) => start < end);

const MOST_NAMED = 8;

// The same where bands are too small for names: these in their order along the axis.
export function orderNote(spans) {
  const names = (spans ?? []).map(({ name }) => name);
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return names.length ? `bands along both sides, in order: ${names.slice(0, MOST_NAMED).join(", ")}${more}` : "";
}

// What a legend says of them; "" where there are none.
export const spansNote = (...axes) => {
  if (!axes.some((spans) => spans?.length)) return "";
  return axes.some(isConversation)
    ? "bands: who speaks, a row by the token that goes in; italics: the chat template’s own tokens"
    : "bands: the spans";
};
