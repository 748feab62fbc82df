// The run's own translations of held-out lines at this moment, wrong words marked.

import { element } from "../../../kit/js/elements.js";
import { isolated } from "../../../kit/js/text.js";
import { isImages, paintImages } from "./images.js";
import { marked } from "./runs.js";
import { isTranslator, paintSentences } from "./translator.js";

export function paintLines(app, pane) {
  if (isTranslator(pane.run)) return paintSentences(app, pane);
  if (isImages(pane.run)) return paintImages(app, pane);
  const { run, at, parts } = pane;
  const { own } = run;
  const said = run.moments[at].said;
  const isEnd = at === run.moments.length - 1;
  const key = JSON.stringify([said, isEnd && own?.src]);
  if (pane.linesKey === key) return;
  pane.linesKey = key;
  const lines = run.about.lines.map((line, i) => lineNode(line.src, said[i], line.tgt, run.about.spaced));
  if (own && isEnd) lines.unshift(lineNode(own.src, own.wrote, own.right, run.about.spaced, true));
  parts.lines.replaceChildren(...lines);
}

function lineNode(src, said, right, isSpaced, isOwn = false) {
  const { words, missing, isRight } = marked(said, right ?? said);
  const space = isSpaced ? " " : "\u2009";
  const shown = words.flatMap(({ word, isWrong }) => [element(isWrong ? "mark" : "span", { text: word }), space]);
  if (missing && words.length)
    shown.push(element("mark", { class: "missing", text: "…", title: `${missing} missing` }));
  if (!words.length) shown.push(element("span", { class: "quiet", text: "(nothing)" }));
  const verdict =
    right === null
      ? ["", "not a line of this task, so there is no right answer"]
      : isRight
        ? ["✓", "right"]
        : ["✗", `right: ${right.join(" ")}`];
  return element(
    "li",
    { class: isOwn ? "own-line" : "", title: `${src.join(" ")} → ${said.join(" ")}\n${verdict[1]}` },
    element("span", { class: isRight ? "tick" : "tick wrong", text: verdict[0], "aria-label": verdict[1] }),
    element("span", { class: "given", text: isolated(src.join(isSpaced ? " " : "")) }),
    element("span", { class: "quiet", text: "→" }),
    element("bdi", { class: "wrote" }, ...shown),
  );
}
