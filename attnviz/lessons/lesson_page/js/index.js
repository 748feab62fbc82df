// The list of a folder's lessons: how far each is, as this browser kept it.

import { setThemeAndPrint } from "../../../kit/js/hosts/themes.js";
import { doneIn } from "./progress.js";
import { phrase, speaker } from "./words.js";

export default function open() {
  const say = speaker(globalThis.attnviz.words);
  setThemeAndPrint(document.documentElement);
  for (const card of document.querySelectorAll("[data-key]")) {
    const { key, questions } = card.dataset;
    const done = doneIn(key);
    const way = done === 0 ? phrase("Begin") : done < Number(questions) ? phrase("Go on") : phrase("Again");
    const link = card.querySelector(".button");
    link.textContent = say(way);
    link.setAttribute("aria-label", `${say(way)}: ${card.querySelector("h2").textContent}`);
    card.querySelector(".done").textContent = done
      ? ` · ${say(phrase("{done} of {questions} questions done", { done, questions }))}`
      : "";
  }
}
