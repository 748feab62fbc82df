// The logit lens as a table: layers up, tokens across; each cell is the likeliest token, tinted by its probability.

import { range } from "../../../kit/js/cells.js";
import { element } from "../../../kit/js/elements.js";
import { markToken, nameNode } from "../../../kit/js/spans/nodes.js";
import { spanAt, spokenText } from "../../../kit/js/spans/spans.js";
import { isolated, percentText } from "../../../kit/js/text.js";

export const rowName = (layer) => (layer === 0 ? "emb." : `L${layer - 1}`);

export function lensTable(lens) {
  const layers = range(lens.cells.length).toReversed();
  const heading = element("tr", {}, element("th"), ...lens.cols.map((text, col) => headNode(lens, text, col)));
  const rows = layers.map((layer) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", text: rowName(layer) }),
      ...lens.cells[layer].map((best, col) => cellNode(lens, layer, col, best)),
    ),
  );
  const table = element("table", {}, element("thead", {}, ...spansRow(lens), heading), element("tbody", {}, ...rows));
  return element(
    "div",
    { class: "lens" },
    element("h3", { class: "quiet", text: lens.title }),
    element("div", { class: "lens-box", tabindex: "0" }, table),
  );
}

function headNode(lens, text, col) {
  const said = spokenText(text, lens.spans, col);
  const node = element("th", { scope: "col", text, title: said, class: col === lens.column && "asked" });
  if (said !== text) node.setAttribute("aria-label", said);
  markToken(node, lens.spans, col);
  return node;
}

// Who speaks, over the tokens of each turn.
function spansRow({ spans, cols }) {
  if (!spans) return [];
  const nodes = [element("th")];
  for (let col = 0; col < cols.length;) {
    const span = spanAt(spans, col);
    const next = span ? span.end : (spans.find(({ start }) => start > col)?.start ?? cols.length);
    nodes.push(element("th", { scope: "colgroup", colspan: next - col }, ...(span ? [nameNode(span)] : [])));
    col = next;
  }
  return [element("tr", {}, ...nodes)];
}

function cellNode(lens, layer, col, best) {
  const [text, probability] = best[0];
  const own = lens.own[layer][col];
  const node = element("td", {
    style: `--p:${probability.toFixed(3)}`,
    class: col === lens.column && "asked",
    title: tipText(lens, col, best, own),
  });
  node.append(own && own[1] === 0 ? element("b", { text }) : text);
  return node;
}

function tipText(lens, col, best, own) {
  const lines = best.map(([text, probability]) => `${isolated(text)} ${percentText(probability)}`);
  if (own) lines.push(`${isolated(lens.cols[col])} ranks ${own[1] + 1}, ${percentText(own[0])}`);
  return lines.join("\n");
}

// A long text's column that is asked about is scrolled to.
export function showAsked(lenses) {
  for (const box of lenses.querySelectorAll(".lens-box")) {
    const asked = box.querySelector("th.asked");
    if (asked) box.scrollLeft = asked.offsetLeft - box.clientWidth / 2;
  }
}
