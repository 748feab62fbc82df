// The logit lens as a table: layers up, tokens across; each cell is the likeliest token, tinted by its probability.

import { range } from "../../shared/js/cells.js";
import { element } from "../../shared/js/elements.js";
import { isolated, percentText } from "../../shared/js/text.js";

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
  const table = element("table", {}, element("thead", {}, heading), element("tbody", {}, ...rows));
  return element(
    "div",
    { class: "lens" },
    element("h3", { class: "quiet", text: lens.title }),
    element("div", { class: "lens-box", tabindex: "0" }, table),
  );
}

const headNode = (lens, text, col) => element("th", { scope: "col", text, class: col === lens.column && "asked" });

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
