// A lesson on a page of its own: one step at a time, by the address's fragment; progress is kept by the browser.

import { element, button } from "../../../kit/js/elements.js";
import { writeFragment } from "../../../kit/js/hosts/fragment.js";
import { setThemeAndPrint } from "../../../kit/js/hosts/themes.js";
import { saveAnswers } from "./answers_file.js";
import { script } from "./loading.js";
import { isOver, progressOf } from "./progress.js";
import { scoreAnswer } from "./scoring.js";
import { stepOf } from "./step.js";
import { summaryOf } from "./verdict.js";
import { phrase, speaker } from "./words.js";

const MARKS = { right: "✓", wrong: "✗", skipped: "–", open: "" };
const MEANS = {
  right: phrase("right"),
  wrong: phrase("answered"),
  skipped: phrase("skipped"),
  open: phrase("open"),
};

export default async function open() {
  setThemeAndPrint(document.documentElement);
  await script("widgets/row_guess.js");
  const { lesson } = globalThis.attnviz;
  const questions = lesson.steps.map(({ question }) => question);
  const page = {
    lesson,
    say: speaker(lesson.words),
    progress: progressOf(lesson.key, questions),
    widgets: globalThis.attnviz.widgets,
    note: (at, told) => page.progress.note(at, told) || parts.kept.removeAttribute("hidden"),
  };
  const { say } = page;
  const parts = {
    steps: document.querySelector("nav ol"),
    main: document.querySelector("main"),
    kept: element("p", { hidden: true, text: say(phrase("This browser keeps no answers: they go with this page.")) }),
  };
  let now = null;

  const told = () => Math.min(lesson.steps.length, Math.max(1, Math.trunc(Number(location.hash.slice(1))) || 1)) - 1;
  let at = told();

  // Opens another step, and puts the step into the address if the page has an address of its own.
  function go(to) {
    if (to === at) return;
    at = to;
    writeFragment(`#${at + 1}`, true);
    show({ isMoved: true });
  }

  function show({ isMoved }) {
    now?.end();
    now = stepOf(page, at, () => [tell(), way()]);
    parts.main.replaceChildren(...now.nodes);
    tell();
    way();
    now.begin();
    if (!isMoved) return;
    scrollTo(0, 0);
    parts.main.querySelector("h2").focus({ preventScroll: true });
  }

  // Which steps are done, and which one is open.
  function tell() {
    const items = lesson.steps.map((step, i) => {
      const mark = step.question ? markOf(step.question, page.progress.of(i)) : "open";
      const name = step.question ? `${i + 1} ${step.title}, ${say(MEANS[mark])}` : `${i + 1} ${step.title}`;
      const link = { href: `#${i + 1}`, "aria-label": name, title: step.title, "data-mark": mark };
      if (i === at) link["aria-current"] = "step";
      const onclick = (event) => (event.preventDefault(), go(i)); // under a <base> the link itself would lead elsewhere
      return element("li", {}, element("a", { ...link, onclick }, MARKS[mark] || String(i + 1)));
    });
    parts.steps.replaceChildren(...items);
  }

  // The way on, and in the end what it came to.
  function way() {
    now.form.querySelector(".way")?.remove();
    now.form.querySelector(".end")?.remove();
    const isLast = at === lesson.steps.length - 1;
    const question = questions[at];
    const isFree = !question || isOver(page.progress.of(at));
    const to = (i) => () => go(i);
    const line = element("div", { class: "way" });
    line.append(button(say(phrase("Back")), { disabled: at === 0, onclick: to(at - 1) }));
    if (!isLast) line.append(button(say(phrase("Next")), { class: isFree ? "primary" : "", onclick: to(at + 1) }));
    else line.append(element("a", { class: isFree ? "button primary" : "button", ...following() }));
    now.form.append(line);
    if (isLast && isFree)
      now.form.append(element("p", { class: "end", role: "status", text: summaryOf(questions, page.progress, say) }));
  }

  function following() {
    if (!lesson.next) return { href: "index.html", text: say(phrase("All lessons")) };
    return { href: lesson.next.href, title: lesson.next.title, text: say(phrase("Next lesson")) };
  }

  function foot() {
    const said = phrase(
      "Practice, not an exam: the answers are in these files. What you answer stays in this browser.",
    );
    const forget = () => {
      if (!confirm(say(phrase("Delete your answers to this lesson?")))) return;
      page.progress.forget();
      if (at) go(0);
      else show({ isMoved: true });
    };
    document
      .querySelector("footer")
      .append(
        element("p", { text: say(said) }),
        parts.kept,
        element(
          "div",
          { class: "buttons" },
          button(say(phrase("Answers (CSV)")), { onclick: () => saveAnswers(lesson, page.progress) }),
          button(say(phrase("Begin again")), { onclick: forget }),
        ),
      );
  }

  foot();
  show({ isMoved: false });
  window.addEventListener("hashchange", () => {
    at = told();
    show({ isMoved: true });
  });
}

function markOf(question, did) {
  if (did.given === null) return did.isSkipped ? "skipped" : "open";
  const { share, isRight } = scoreAnswer(question, did.given, question.truth);
  return isRight || share === null ? "right" : "wrong";
}
