// From the products to the weight, a line a step.

import { termNode } from "../../../kit/js/definitions.js";
import { element } from "../../../kit/js/elements.js";
import { capped } from "./dot_product.js";
import { exactText, shortText } from "../../../kit/js/text.js";

export function stepsOf(app) {
  const { pair, view } = app;
  const { scale, sizes, bias, softcap, sink } = app.payload.header;
  const seen = pair.visible[view.key];
  const visible = pair.visible.filter(Boolean).length;
  const isRoot = Math.abs(scale - 1 / Math.sqrt(sizes[2])) < 1e-6;
  const steps = [
    ["dot", "dot product", `Σ q × k over ${sizes[2]} elements`, pair.dot],
    ["scaled", "scaled", `× ${exactText(scale)}${isRoot ? " = 1 / √d_k" : ""}`, pair.dot * scale],
  ];
  if (softcap !== null)
    steps.push([
      "capped",
      "softly capped",
      `${exactText(softcap)} · tanh(s / ${exactText(softcap)})`,
      capped(pair.dot * scale, softcap),
    ]);
  if (bias !== null) steps.push(["bias", "with the model's bias", `+ ${exactText(pair.bias)}`, pair.score]);
  const beside = sink === null ? "" : " and the sink";
  const of = `of ${visible} visible ${visible === 1 ? "key" : "keys"}${beside}`;
  const softmax = seen
    ? `e^${shortText(pair.score)} over the sum of e^score ${of}${sumText(pair, sink)}`
    : "the mask hides this key";
  return [...steps, ["weight", "softmax", softmax, pair.weight]];
}

// The sum that the weights are shares of, unless it is too large to be written.
function sumText({ scores, visible }, sink) {
  const sunk = sink === null ? 0 : Math.exp(sink);
  const sum = scores.reduce((total, score, i) => total + (visible[i] ? Math.exp(score) : 0), sunk);
  return sum > 0 && sum < 1e9 ? `, ${exactText(sum)}` : "";
}

export function paintSteps(app) {
  const nodes = stepsOf(app).flatMap(([name, title, how, value]) => [
    element("dt", {}, termNode(title)),
    element("dd", { class: "quiet", text: how }),
    element("dd", { class: "step-value", "data-step": name, "data-value": value, text: exactText(value) }),
  ]);
  app.parts.steps.replaceChildren(...nodes);
}
