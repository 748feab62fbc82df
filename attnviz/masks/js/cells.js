// Cells of the mask: which of them may attend, by the rules and by the paint, and the state of one in words.

import { range } from "../../kit/js/cells.js";

export const RULE_HINT =
  "Paint can only hide more cells, because masks are combined with &. Press “To paint” to make this cell paintable.";

export const mayAttend = (app, i) => app.payload.rules[i] && app.cells[i];

export const stateOf = (app, i) =>
  !app.payload.rules[i] ? hiddenBy(app, i) : !app.cells[i] ? "hidden by paint" : "may attend";

const hiddenBy = ({ payload: { indexed } }, i) => (indexed?.[i] ? "hidden by the indexer" : "hidden by a rule");

export const rowCells = ({ payload: { k } }, row) => range(k).map((col) => row * k + col);

export const colCells = ({ payload: { q, k } }, col) => range(q).map((row) => row * k + col);
