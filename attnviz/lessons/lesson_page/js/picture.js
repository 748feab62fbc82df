// The picture of a step: of a widget, a tab that is HTML, or a still, and what a question covers of it until it is over.

import { element } from "../../../kit/js/elements.js";
import { inflated, withoutPlanes } from "../../../kit/js/files/planes.js";
import { repacked } from "../../../kit/js/unpack.js";
import { readCells } from "./cells.js";
import { script } from "./loading.js";
import { placeIn } from "./place.js";
import { isOver } from "./progress.js";
import { drawTab } from "./variants.js";
import { phrase } from "./words.js";

const COVERED = phrase("Covered until you answer the question or skip it.");
const BROKEN = phrase(
  "The picture cannot be drawn: a file of this folder is missing, or your browser is older than 2023.",
);
const OPEN = phrase("Open this picture in attnviz");

// Draws a step's picture in `box`, and again whenever `update` is called. `marked(cells)` hears of cells that are marked
// on its map; `marks()` and `did()` say which are, and what was done with the question.
export function stepPicture(box, { step, say, did, marks, marked }) {
  const { picture, question } = step;
  const state = { bytes: null, place: null, view: null };
  const isShown = () => picture.cover === "nothing" || isOver(did());

  async function update() {
    if (!picture) return;
    if (!isShown() && picture.cover === "all") return tell(COVERED);
    try {
      await (picture.widget ? drawn(isShown() ? picture.open : picture.covered) : picture.open ? tab() : still());
      box.querySelector(".way-out")?.remove();
      if (picture.instance && isShown()) box.append(wayOut());
    } catch {
      tell(BROKEN, { role: "alert" });
    }
  }

  function tell(sentence, attributes = {}) {
    end();
    box.replaceChildren(element("p", { class: "no-picture", text: say(sentence), ...attributes }));
  }

  async function drawn(piece) {
    await Promise.all([`pictures/${piece}.js`, `widgets/${picture.widget}.js`].map(script));
    const { deflated, planes } = globalThis.attnviz.pictures[piece];
    state.bytes = withoutPlanes(await inflated(deflated), planes);
    if (!box.isConnected) return;
    if (!state.place) {
      const node = element("div", { class: "place" });
      box.replaceChildren(node);
      state.place = placeIn(node, globalThis.attnviz.widgets[picture.widget], report);
    }
    show();
  }

  // The bytes hold all but what is in view.
  function show() {
    const lesson = isAtQuestion() ? lessonOf() : null;
    const data = repacked(state.bytes, ({ id, ...header }) => ({
      ...header,
      ...(picture.view && { view: picture.view }),
      id: lesson ? `${id} ${JSON.stringify(lesson)}` : id,
      ...(lesson && { lesson }),
    }));
    state.place.show(data, question?.kind === "cell" ? { view: { marks: marks() } } : {});
  }

  // The question on the map: the row that it is about, the number of cells that it asks for; in the end the right ones.
  function lessonOf() {
    if (!question || !(question.kind === "cell" || question.row !== null)) return null;
    if (question.kind !== "cell") return { row: question.row };
    const { rungs, given } = did();
    if (isOver(did())) return { right: question.truth.answer, guess: given ?? [] };
    const isSpot = question.show && rungs > question.hints.length;
    return { most: question.most, row: question.row, ...(isSpot && { spot: question.show }) };
  }

  const isAtQuestion = () =>
    picture.site?.every((at, i) => at === (state.view?.[["kind", "layer", "head"][i]] ?? picture.site[i]));

  function report(name, value) {
    if (name !== "view" || !value) return;
    const wasThere = isAtQuestion();
    state.view = value;
    if (question?.kind === "cell" && !isOver(did()) && value.marks) marked(value.marks);
    if (wasThere !== isAtQuestion()) show();
  }

  async function tab() {
    if (box.querySelector(".tab")) return; // as its controls stand
    await script(`pictures/${picture.open}.js`);
    const bytes = await inflated(globalThis.attnviz.pictures[picture.open].deflated);
    state.view ??= { ...picture.view };
    const node = element("div", { class: "tab", lang: "en" });
    drawTab(node, JSON.parse(new TextDecoder().decode(bytes)), state.view);
    box.replaceChildren(node, element("p", { class: "note", text: picture.note }));
  }

  function still() {
    const node = element("div", { class: "still", lang: "en" });
    node.innerHTML = picture.html;
    readCells(node);
    box.replaceChildren(element("p", { class: picture.html ? "note" : "no-picture", text: picture.note }), node);
  }

  function wayOut() {
    const link = { href: picture.instance, target: "_blank", rel: "noopener", text: say(OPEN) };
    return element("p", { class: "note way-out" }, element("a", link));
  }

  function end() {
    state.place?.end();
    state.place = null;
  }

  return { update, end, redraw: () => state.place && show() };
}
