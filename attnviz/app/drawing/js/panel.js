// The values of a step beside its sentence: tokens, weights as bars, or the numbers of a context as a strip.

import { element } from "../../../kit/js/elements.js";
import { exactText, percentText } from "../../../kit/js/text.js";
import { css, mix } from "../../../kit/js/theme.js";

export function paintStep(app, step) {
  const key = JSON.stringify([app.payload.header.base, app.view.row, step?.id ?? null, app.theme.key]);
  if (app.stepKey === key) return;
  app.stepKey = key;
  const nodes = [];
  if (step?.tokens) nodes.push(tokensNode(step.tokens));
  if (step?.bars) nodes.push(barsNode(step));
  if (step?.strip) nodes.push(stripNode(app.theme, step.strip));
  app.parts.values.replaceChildren(...nodes);
}

const tokensNode = (tokens) =>
  element("div", { class: "tokens" }, ...tokens.map((text) => element("span", { class: "token", text })));

function barsNode({ id, bars }) {
  const say = id === "end" ? percentText : exactText;
  const line = ([label, value, mark]) =>
    element(
      "li",
      { class: mark === "came" ? "came" : null },
      element("bdi", { class: "bar-name", text: label }),
      element(
        "span",
        { class: "bar-track" },
        element("span", { class: "bar", style: `width:${(100 * value).toFixed(2)}%` }),
      ),
      element("span", { class: "bar-value", text: say(value) }),
    );
  return element("ol", { class: "bars" }, ...bars.map(line));
}

// Below zero in the text's colour, above in the accent's; the largest is full.
function stripNode(theme, strip) {
  const most = Math.max(...strip.map(Math.abs)) || 1;
  const cell = (value, at) => {
    const colour = css(mix(value < 0 ? theme.inkRGB : theme.accentRGB, theme.paperRGB, Math.abs(value) / most));
    return element("span", { style: `background:${colour}`, title: `${at}: ${exactText(value)}` });
  };
  const key = element("p", {
    class: "quiet",
    text: `coloured above 0, grey below; the strongest is ±${exactText(most)}`,
  });
  return element(
    "div",
    {},
    element("div", { class: "context-strip", role: "img", "aria-label": "The context’s numbers" }, ...strip.map(cell)),
    key,
  );
}
