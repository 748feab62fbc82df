// The row's shares of source and target tokens as bars, and how well they align words.

import { explained, termNode } from "../../../kit/js/definitions.js";
import { button, element, put } from "../../../kit/js/elements.js";
import { change } from "../../../kit/js/store.js";
import { entryText } from "../../../kit/js/tokens/entries.js";
import { flowInForce } from "./figure.js";

const MOST = 60;

export function sharesPane(app) {
  const { parts } = app;
  parts.sum = element("p", { class: "quiet" });
  parts.shares = element("ol", { class: "share-list", "aria-label": "Shares of the tokens" });
  parts.flowSwitch = explained(
    button("Max flow", { "data-control": "flow", onclick: () => change(app, { flow: !app.view.flow }) }),
    "Max flow",
  );
  parts.flowNote = element("p", { class: "quiet" });
  parts.errors = element("div", { class: "flow-errors" });
  return element(
    "aside",
    { class: "pane", "aria-label": "Shares" },
    element("div", { class: "spread" }, element("h2", { text: "Made of" }), parts.flowSwitch),
    parts.sum,
    parts.shares,
    parts.flowNote,
    parts.errors,
  );
}

// The list, largest first; returns its beginning in words.
export function paintShares(app) {
  const { header } = app.payload;
  const all = ["source", "target"].flatMap((text) =>
    header[text].map((token, at) => ({ text, token, at, share: app.flow[text][at] })),
  );
  const tokens = all.filter(({ share }) => share > 0).sort((a, b) => b.share - a.share);
  const total = (text) => app.flow[text].reduce((sum, share) => sum + share, 0);
  const isBoth = header.source.length > 0 && header.target.length > 0;
  put(app.parts.sum, isBoth ? `source ${percent(total("source"))}, target ${percent(total("target"))}` : "");
  const flow = flowInForce(app);
  const widest = Math.max(...tokens.map(({ share }) => share), 1e-9);
  app.parts.shares.replaceChildren(...tokens.slice(0, MOST).map((one) => shareNode(header, one, { widest, flow })));
  if (tokens.length > MOST)
    app.parts.shares.append(element("li", { class: "quiet", text: `${tokens.length - MOST} smaller shares` }));
  paintFlowNote(app, flow);
  paintErrors(app);
  return tokens
    .slice(0, 3)
    .map(({ token, share }) => `${token} ${percent(share)}`)
    .join(", ");
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

function shareNode(header, { text, token, at, share }, { widest, flow }) {
  const bar = element("span", { class: `share-bar ${text}`, style: `width:${(100 * share) / widest}%` });
  return element(
    "li",
    { title: entryText(header[`${text}_entries`][at]), "data-text": text, "data-at": at, "data-share": share },
    element("bdi", { class: "list-token", text: token }),
    element("span", { class: "share-track" }, bar),
    element("span", { class: "list-weight", text: percent(share) }),
    ...(flow ? [element("span", { class: "list-weight quiet", text: flow[text][at].toFixed(2) })] : []),
  );
}

function paintFlowNote({ parts, payload, view }, flow) {
  const why = payload.header.facts.why_no_flow;
  parts.flowSwitch.disabled = why !== "";
  parts.flowSwitch.setAttribute("aria-pressed", String(view.flow && !why));
  parts.shares.classList.toggle("with-flow", flow !== null);
  const sum = flow && [...flow.source, ...flow.target].reduce((all, one) => all + one, 0);
  const told = flow
    ? `Grey: maximum flow through the weights at a residual share of ${(payload.header.flow.residual / 100).toFixed(2)}. These are not shares: they sum to ${sum.toFixed(2)}.`
    : view.flow && !why
      ? "Computing the maximum flow of this row …"
      : why;
  put(parts.flowNote, told);
}

function paintErrors({ parts, payload }) {
  const { errors, errors_of: of, opens_on: opens } = payload.header.facts;
  if (parts.errors.dataset.drawn === payload.header.base) return;
  parts.errors.dataset.drawn = payload.header.base;
  const about = element("p", { class: "quiet", text: opens });
  if (!errors.length) return parts.errors.replaceChildren(about);
  const line = ([name, rate]) =>
    element("tr", {}, element("td", { text: name }), element("td", { class: "list-weight", text: rate.toFixed(3) }));
  parts.errors.replaceChildren(
    element(
      "p",
      {},
      termNode("Alignment error", "Alignment error", of),
      element("span", { class: "quiet", text: ` ${of}` }),
    ),
    element("table", {}, ...errors.map(line)),
    about,
  );
}
