// The left side: one pass over the whole target, a row a position. A click on a row goes to that step.

import { termNode } from "../../kit/js/definitions.js";
import { element, showWithin } from "../../kit/js/elements.js";
import { rowEntryText, withEntry } from "../../kit/js/tokens/entries.js";
import { exactText, percentText, shortText } from "../../kit/js/text.js";
import { spansNote } from "../../kit/js/spans/spans.js";
import { goTo } from "./choice.js";

const HEADING = 26; // pixels of the table's, which stays while its rows scroll

export function paintTraining(app) {
  const { training, steps, id } = app.payload.header;
  const { parts } = app;
  if (app.tableKey !== id) {
    app.tableKey = id;
    parts.tableBody.replaceChildren(...training.rows.map((row, index) => trainingRow(app, row, index)));
    // Of a smoothed loss, which its note explains, e to the mean is no perplexity.
    const perplexity = training.note ? "" : perplexityText(training.mean);
    const mean = termNode(
      `mean loss ${shortText(training.mean)} nats`,
      "mean loss",
      perplexity && `Here it is ${perplexity}.`,
    );
    parts.mean.replaceChildren(
      mean,
      element("span", { class: "if-wide", text: perplexity && ` · perplexity ${perplexity}` }),
    );
    parts.counts.textContent = training.counts;
    const who = spansNote(...app.payload.kinds.flatMap(({ row_spans: rows, spans }) => [rows, spans]));
    parts.note.textContent = [training.note, who && `Maps: ${who}.`].filter(Boolean).join(" ");
    parts.note.hidden = !parts.note.textContent;
  }
  [...parts.tableBody.rows].forEach((node, index) => {
    const isCurrent = index === app.view.step && index < steps.length;
    node.classList.toggle("current", isCurrent);
    node.setAttribute("aria-selected", String(isCurrent));
    if (isCurrent)
      showWithin(parts.tableBox, index === steps.length - 1 ? parts.tableBody.lastElementChild : node, HEADING);
  });
}

function trainingRow(app, row, index) {
  const probability = row.counted ? percentText(row.probability) : "–";
  const differs = row.counted && row.likeliest !== row.label;
  const bar = element("i", { style: `width:${row.counted ? Math.round(row.probability * 100) : 0}%` });
  const node = element(
    "tr",
    { class: row.counted ? "" : "padding", title: withEntry(rowTitle(row), entriesOf(row)) },
    element("td", { class: "number", text: String(row.position) }),
    element("td", { class: "token-cell", text: row.input }),
    element("td", { class: "token-cell label", text: row.label }),
    element("td", { class: "bar-cell" }, bar, element("span", { text: probability })),
    element("td", { class: "number", text: row.counted ? shortText(row.loss) : "–" }),
    element(
      "td",
      { class: "token-cell quiet", text: differs ? row.likeliest : "" },
      differs ? element("span", { class: "if-wide", text: ` ${percentText(row.likeliest_probability)}` }) : "",
    ),
  );
  node.onclick = () => goTo(app, index);
  return node;
}

function entriesOf(row) {
  const told = (name) => (`${name}_id` in row ? [[row[`${name}_piece`], row[`${name}_id`]]] : []);
  return rowEntryText([told("input"), told("label")]);
}

function rowTitle(row) {
  if (!row.counted) return "Padding: greyed out and left out of the mean";
  return `position ${row.position}: ${row.input} goes in, ${row.label} is the label, with probability ${exactText(row.probability)}: loss ${exactText(row.loss)} nats; the model's most likely token is ${row.likeliest}, ${percentText(row.likeliest_probability)}`;
}

function perplexityText(mean) {
  const perplexity = Math.exp(mean);
  return perplexity < 1000 ? perplexity.toPrecision(3) : Math.round(perplexity).toLocaleString("en");
}
