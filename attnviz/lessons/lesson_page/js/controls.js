// The controls of each kind of question. Each returns { node, value, … }: `value()` is the answer as it stands, null
// where there is none yet; `focus()` is where the answer is given.

import { element } from "../../../kit/js/elements.js";
import { readNumber } from "./numbers.js";
import { placeIn } from "./place.js";
import { kindOf, rowRule } from "./scoring.js";
import { phrase } from "./words.js";

export const controlsOf = (question, told) => CONTROLS[kindOf(question)](question, told);

// Lists for the keyboard; on the map a click marks the same cells. `told.changed(cells)` hears of a choice in the lists.
function cellLists({ row, most, rows, keys }, { say, changed }) {
  const places = Array.from({ length: most }, (_, i) => ({
    row: row === null ? list(say(phrase("Row (the query)")) + numbered(i, most), rows) : null,
    key: list(say(phrase("Key")) + numbered(i, most), keys),
  }));
  const chosen = () => places.map((place) => [place.row ? place.row.at() : row, place.key.at()]);
  const whole = () => chosen().filter((cell) => !cell.includes(null));
  const node = element("div", { class: "lists" });
  for (const place of places) node.append(...[place.row?.node, place.key.node].filter(Boolean));
  node.addEventListener("change", () => changed(whole()));
  return {
    node,
    value: () => (whole().length ? whole() : null),
    put: (marked) =>
      places.forEach((place, i) => {
        place.row?.put(marked[i]?.[0] ?? null);
        place.key.put(marked[i]?.[1] ?? null);
      }),
  };
}

const numbered = (i, most) => (most > 1 ? ` ${i + 1}` : "");

function list(label, names) {
  const select = element("select", {}, element("option", { value: "", text: "…" }));
  names.forEach((name, i) => select.append(element("option", { value: i, text: `${i}  ${name}` })));
  return {
    node: element("label", {}, element("span", { text: label }), select),
    at: () => (select.value === "" ? null : Number(select.value)),
    put: (at) => (select.value = at ?? ""),
  };
}

function rowBars({ row: at, rows, keys }, { say, widgets }) {
  const node = element("div", { class: "bars" });
  const of = say(phrase("The row of “{token}”.", { token: rows[at] }));
  const place = placeIn(node, widgets.row_guess, () => {});
  place.show(barsOf(keys, say));
  const drawn = () => node.shadowRoot.querySelector(".row-guess").heights.map((height) => Math.round(height * 1000));
  return {
    node: element("div", {}, element("p", { class: "note", text: `${of} ${say(rowRule())}` }), node),
    value: () => (drawn().some(Boolean) ? drawn() : null),
  };
}

// The row as it was drawn, which moves to the model's.
export function toldRow({ keys, truth }, guess, { say, widgets }) {
  const node = element("div", { class: "bars" });
  placeIn(node, widgets.row_guess, () => {}).show({ ...barsOf(keys, say), guess, truth: truth.answer });
  return node;
}

const barsOf = (keys, say) => ({
  keys,
  guess: null,
  truth: null,
  closed: false,
  words: {
    group: say(phrase("Your row: drag the bars")),
    scaled: say(phrase("The numbers are your bars, scaled to sum to 1.")),
    told: say(phrase("Bars: the model’s row. Dotted: your guess.")),
  },
});

export const headName = ([layer, head]) => `L${layer} H${head}`;

function headRadios({ heads: named }, { say }) {
  const radios = radiosOf(say(phrase("Which head?")), named.map(headName));
  return { ...radios, value: () => (radios.value() === null ? null : named[radios.value()]) };
}

const optionRadios = ({ options: named }, { say }) => radiosOf(say(phrase("Which one?")), named);

function radiosOf(legend, names) {
  const node = element("fieldset", {}, element("legend", { class: "unseen", text: legend }));
  names.forEach((text, i) => {
    const radio = element("input", { type: "radio", name: "answer", value: i });
    node.append(element("label", { class: "option" }, radio, element("span", { text })));
  });
  const chosen = () => node.querySelector(":checked");
  return { node, value: () => (chosen() ? Number(chosen().value) : null) };
}

function numberField({ unit }, { say }) {
  const label = unit ? phrase("Your number ({unit})", { unit }) : phrase("Your number");
  const input = element("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
  return {
    node: element("label", {}, element("span", { text: say(label) }), input),
    value: () => readNumber(input.value).number ?? (input.value.trim() || null),
  };
}

const textField =
  (tag, label) =>
  (question, { say }) => {
    const input = element(tag, { maxlength: tag === "input" ? 200 : 2000, autocomplete: "off" });
    return {
      node: element("label", {}, element("span", { text: say(label) }), input),
      value: () => input.value.trim() || null,
    };
  };

const CONTROLS = {
  cell: cellLists,
  row: rowBars,
  head: headRadios,
  choice: optionRadios,
  number: numberField,
  said: textField("input", phrase("Your answer")),
  text: textField("textarea", phrase("In your own words")),
};
