// A head's bar opened: what it adds through each token that it looks at.

import { range } from "../../../kit/js/cells.js";
import { spokenText } from "../../../kit/js/spans/spans.js";
import { barOf } from "./choice.js";

export function openedBars(app) {
  const bar = barOf(app);
  if (!bar) return null;
  const [kind, layer, head] = bar.head.split(".");
  const site = app.payload.header.opened[`${kind}.${layer}`];
  if (!site) return null;
  const [heads, keys] = site.size;
  const values = app.payload.array(Float32Array, site.values, heads * keys);
  const at = Number(head) * keys;
  const bars = range(keys).map((key) => ({
    name: spokenText(site.cols[key], site.spans, key),
    value: values[at + key],
    key,
    entries: site.col_entries[key],
  }));
  const order =
    app.view.order === "model" ? bars : bars.sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
  return { title: `${bar.name}, through each token that it looks at`, bars: order, whole: bar.value };
}
