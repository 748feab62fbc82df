// What the browser has of a reply, message by message: tokens, alternatives, and the rows of one head.

import { range } from "../../../kit/js/cells.js";
import { scalesIn } from "../../../kit/js/unpack.js";

const FULL = 65535; // a weight of 1

// Takes a message over; false where it lacks what came before.
export function merge(app, { header, array }) {
  const isNew = app.text?.key !== header.key || header.since === 0;
  if (isNew && header.since > 0) return false;
  if (isNew) app.text = begun(header, array, app.text);
  const { text } = app;
  if (header.since > text.tokens.length || header.first_row > text.rows.length) return false;
  if (String(header.site) !== String(text.site) && header.first_row > 0) return false;
  text.site = header.site;
  const already = text.tokens.slice(header.since).map(([, , , [, id]]) => id);
  text.changed = Math.min(text.changed, header.since + sameAtFirst(already, header.tokens));
  text.tokens.splice(header.since, Infinity, ...header.tokens);
  text.alternatives.splice(Math.max(0, header.since - text.prompt), Infinity, ...header.alternatives);
  text.taken.splice(Math.max(0, header.since - text.prompt), Infinity, ...header.taken);
  text.rows.splice(header.first_row, Infinity, ...rowsIn(header, array));
  text.drawnRows = Math.min(text.drawnRows, header.first_row);
  return true;
}

const begun = (header, array, before) => ({
  key: header.key,
  prompt: header.prompt,
  scales: scalesIn({ header, array }),
  tokens: [],
  alternatives: [],
  taken: [],
  rows: [],
  site: header.site,
  drawnRows: 0, // rows that are on the sheet
  changed: 0, // tokens whose words are on the page
  isOther: before?.key !== header.key,
});

// Messages overlap: words that stand there already are not built again.
function sameAtFirst(ids, tokens) {
  let same = 0;
  while (same < ids.length && same < tokens.length && ids[same] === tokens[same][3][1]) same += 1;
  return same;
}

// Row i has a weight for each of its i + 1 keys.
function rowsIn({ first_row, rows, offset }, array) {
  let at = offset;
  return range(rows).map((index) => {
    const count = first_row + index + 1;
    const row = Float32Array.from(array(Uint16Array, at, count), (value) => value / FULL);
    at += 2 * count;
    return row;
  });
}

// The row that wrote token `at`: that of the token before it.
export const rowOf = ({ rows }, at) => rows[at - 1];

// The largest weight of a row besides the first token's, which most heads look at for want of anything else.
export function peakOf(row) {
  let peak = 0;
  for (let key = 1; key < row.length; key++) if (row[key] > peak) peak = row[key];
  return peak || row[0] || 1;
}
