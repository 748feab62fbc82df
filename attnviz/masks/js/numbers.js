// The pinned row as numbers, so that its softmax can be checked by hand; and every row's sum, for ears and tests.

import { element } from "../../kit/js/elements.js";
import { entryText, rowEntryText, withEntry } from "../../kit/js/tokens/entries.js";
import { spokenText } from "../../kit/js/spans/spans.js";
import { mayAttend } from "./cells.js";
import { plain, sumText, sumsOf } from "./panels.js";

export function drawNumbers(app) {
  const { parts, payload } = app;
  const sums = sumsOf(app);
  parts.sums.replaceChildren(
    ...sums.map((sum, row) => element("li", { text: `${app.spokenRows[row]}: ${sumText(sum)}` })),
  );
  parts.rowTitle.textContent = app.row === null ? "Pinned row" : `Row ${app.row}: ${app.spokenRows[app.row]}`;
  parts.rowTitle.title = app.row === null ? "" : rowEntryText(payload.header.row_entries[app.row]);
  parts.rowHint.textContent =
    app.row === null ? "Click a row, or its name, to see its softmax in numbers." : howToCheck(app);
  parts.table.hidden = app.row === null;
  if (app.row !== null) parts.table.replaceChildren(headRow(app), ...bodyRows(app));
  parts.findings.replaceChildren(...payload.header.findings.map((text) => element("li", { text })));
}

function headRow(app) {
  const names = app.payload.header.cols.map((name, col) =>
    element("th", {
      scope: "col",
      text: name,
      title: withEntry(
        `key ${col}: ${spokenText(name, app.payload.header.spans, col)}`,
        entryText(app.payload.header.col_entries[col]),
      ),
      class: mayAttend(app, app.row * app.payload.k + col) ? false : "hidden-key",
    }),
  );
  return element(
    "thead",
    {},
    element("tr", {}, element("th", { text: "key" }), element("th", { class: "total", text: "Σ" }), ...names),
  );
}

function bodyRows(app) {
  const { lines } = rowNumbers(app);
  return [
    element(
      "tbody",
      {},
      ...lines.map(([name, values, total]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row", text: name }),
          element("td", { class: "total", text: total === null ? "" : plain(total) }),
          ...(values ?? app.payload.header.cols.map(() => null)).map((value, col) =>
            element("td", {
              text: value === null ? "–" : plain(value),
              class: mayAttend(app, app.row * app.payload.k + col) ? false : "hidden-key",
            }),
          ),
        ),
      ),
    ),
  ];
}

function howToCheck(app) {
  const { words, fill } = app.payload.header;
  const { most } = rowNumbers(app);
  if (!app.payload.attn) return "torch refused this fill, so there are no weights.";
  const cause = app.payload.header.causes[app.row];
  if (cause) return `NaN: ${cause}.`;
  const sink =
    app.payload.header.sink === null ? "" : `; the sink's, ${plain(app.payload.header.sink)}, is in the sum too`;
  const least = `the largest, ${plain(most)}, is subtracted first${sink}`;
  return fill === null
    ? `softmax = exp / Σ exp over all keys (${least}); the mask then makes its cells 0${words.renormalised ? ", and the rest is divided by its sum" : ""}.`
    : `weight = exp / Σ exp (${least}). Computed in ${words.dtype}; exp is shown in double precision.`;
}

function rowNumbers({ payload: { k, scores, masked, attn, header }, row }) {
  const cut = (map) => (map ? [...map.subarray(row * k, (row + 1) * k)] : null);
  const score = cut(scores);
  const put = cut(masked);
  const sink = header.sink ?? -Infinity;
  const most = Math.max(sink, ...put);
  const exp = put.map((value) => Math.exp(value - most)); // −∞ less −∞ is NaN here as it is in the softmax
  const total = exp.reduce((sum, value) => sum + value, header.sink === null ? 0 : Math.exp(sink - most));
  const after = header.fill === null;
  return {
    most,
    lines: [
      ["score", score, null],
      after ? null : ["masked score", put, null],
      ["exp(s − max)", exp, total],
      after ? ["softmax", exp.map((value) => value / total), header.sink === null ? 1 : null] : null,
      ["weight", cut(attn), sumOf(cut(attn))],
    ].filter(Boolean),
  };
}

const sumOf = (values) => (values ? values.reduce((sum, value) => sum + value, 0) : null);
