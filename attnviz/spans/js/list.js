// The spans as a list: which share each has, and beside it what the answer loses when that span is hidden from it.

import { choices } from "../../kit/js/base/parts.js";
import { termNode } from "../../kit/js/definitions.js";
import { button, element, put } from "../../kit/js/elements.js";
import { percentText, shortText, siteName } from "../../kit/js/text.js";
import { answerName, answerShares, answerText, columnsOf, isByNorm, spanOfColumn } from "./choice.js";
import { columnColour } from "./colours.js";
import { openSpan } from "./editor.js";

const NOT_HERE = "Hiding spans needs the model that made the trace, and was not computed for this picture.";
const BELOW =
  "If a value is below zero, the answer is less likely without the span. The share is the mean over all heads.";

export function listPane(app) {
  const { parts } = app;
  parts.listTitle = element("h2");
  parts.list = element("table", { class: "span-list" });
  parts.causeNote = element("p", { class: "quiet" });
  parts.causeTable = element("table", { class: "span-list" });
  return element(
    "section",
    { class: "pane side", "aria-label": "Shares of spans" },
    parts.listTitle,
    parts.list,
    element("h2", {}, termNode("Hide each span")),
    choices(app, "hidden"),
    parts.causeNote,
    parts.causeTable,
  );
}

export function paintList(app) {
  const { view } = app;
  const shares = answerShares(app);
  const columns = columnsOf(app);
  const top = view.per_token ? Math.max(1e-9, ...columns.map((at) => shares[at])) : 1;
  put(app.parts.listTitle, `Share of ${answerName(app)}`);
  const name = isByNorm(app) ? "share by ‖αf(x)‖" : "share";
  app.parts.list.replaceChildren(
    headNode(["span", "tokens", view.per_token ? `${name} per token` : name]),
    element("tbody", {}, ...columns.map((column) => shareNode(app, column, shares[column], top))),
  );
  paintCause(app);
  const largest = [...columns].sort((one, other) => shares[other] - shares[one])[0];
  return `${answerName(app)}, ${siteName(view.layer, view.head)}: most to ${app.payload.header.columns[largest]}, ${percentText(shares[largest])}`;
}

const headNode = (names) =>
  element(
    "thead",
    {},
    element("tr", {}, ...names.map((text, at) => element("th", { scope: "col", class: at && "number", text }))),
  );

function shareNode(app, column, share, top) {
  const { header } = app.payload;
  const span = spanOfColumn(app.payload, column);
  const name = header.columns[column];
  const colour = columnColour(app, column);
  const length = header.columns[column] === "sink" && span === null ? "" : header.lengths[column];
  const label =
    span === null || app.lacks.has("spans")
      ? element("bdi", { text: name })
      : button(name, { class: "link", title: "Rename or remove it", onclick: () => openSpan(app, span) });
  return element(
    "tr",
    { "data-column": column, "data-share": share },
    element("th", { scope: "row" }, element("span", { class: "swatch", style: `--band:${colour}` }), label),
    element("td", { class: "number", text: String(length) }),
    element(
      "td",
      { class: "number bar-cell" },
      element("span", { class: "share-bar", style: `width:calc((100% - 48px) * ${share / top});--band:${colour}` }),
      element("span", { text: percentText(share) }),
    ),
  );
}

function paintCause(app) {
  const { parts, payload, view } = app;
  const { cause, facts } = payload.header;
  const [start, end] = payload.header.answer;
  const lines = cause?.lines ?? [];
  const why = cause?.why || facts.why_no_cause;
  const waiting = view.hidden && !cause ? "Running the model once for each span …" : "";
  const intro =
    cause && lines.length
      ? `Log-probability of ${answerText(payload.header)}${end - start === 1 ? "" : ` (${end - start} tokens)`}: ${shortText(cause.logprob)} nats. ${BELOW}`
      : "";
  const ask = "The model runs once for each span, with that span’s keys hidden.";
  const nothing = cause && !why ? `No span stands before ${answerText(payload.header)}.` : "";
  put(parts.causeNote, intro || waiting || (app.lacks.has("hidden") ? NOT_HERE : why) || nothing || ask);
  parts.causeTable.hidden = !lines.length;
  if (!lines.length) return;
  const most = Math.max(1e-9, ...lines.map(([, , , difference]) => Math.abs(difference)));
  parts.causeTable.replaceChildren(
    headNode(["hidden span", "share", "without it", "difference"]),
    element("tbody", {}, ...lines.map((line) => causeNode(app, line, most))),
  );
}

function causeNode(app, [name, share, without, difference], most) {
  const column = app.payload.header.columns.indexOf(name, 1);
  const colour = columnColour(app, column);
  return element(
    "tr",
    { "data-hidden-span": name, "data-difference": difference },
    element(
      "th",
      { scope: "row" },
      element("span", { class: "swatch", style: `--band:${colour}` }),
      element("bdi", { text: name }),
    ),
    element("td", { class: "number", text: percentText(share) }),
    element("td", { class: "number", text: shortText(without) }),
    element(
      "td",
      { class: "number bar-cell" },
      element("span", {
        class: "share-bar",
        style: `width:calc((100% - 48px) * ${Math.abs(difference) / most});--band:${colour}`,
      }),
      element("span", { text: shortText(difference) }),
    ),
  );
}
