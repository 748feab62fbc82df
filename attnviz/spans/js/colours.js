// Colours of columns: a span has one of its own, told apart by its name, too; what is no span is grey.

import { roleColours } from "../../kit/js/spans/bands.js";

const LIGHT = [
  "#4b6bd6",
  "#d97706",
  "#2f9e63",
  "#b5479d",
  "#0e8fa8",
  "#c2413b",
  "#7a5bd0",
  "#8a7a12",
  "#5b7083",
  "#d0658a",
];
const DARK = [
  "#8ea6ff",
  "#f5a742",
  "#5fd39a",
  "#e48ad0",
  "#4fc8de",
  "#f08a80",
  "#b49cff",
  "#d1c04a",
  "#9db2c6",
  "#f29ab8",
];

export function spanColour(app, at) {
  const { spans, facts } = app.payload.header;
  // Of a conversation with one turn a speaker, the colours that speakers have in other pictures.
  const roles = spans.map(({ role }) => role);
  const isByRole = facts.rule === "roles" && roles.every(Boolean) && new Set(roles).size === roles.length;
  if (isByRole && roles[at]) return roleColours(app, roles[at]).line;
  return (app.theme.name === "dark" ? DARK : LIGHT)[at % LIGHT.length];
}

// The first token, spans, other tokens, and a head's own sink where it has one.
export function columnColour(app, column) {
  const { spans } = app.payload.header;
  if (column === 0) return app.theme.faint;
  if (column <= spans.length) return spanColour(app, column - 1);
  return column === spans.length + 1 ? app.theme.line : app.theme.muted;
}
