// The draft of a lesson, as the browser keeps it for all its tabs: { revision, draft }, in localStorage. Every change counts
// the revision up; the higher one is the newer. The draft is the lesson's Markdown; version 1.0 kept the fields of a form,
// which attnviz/lessons/draft.py makes into Markdown.

export const KEY = "attnviz-draft";
const DONE = "attnviz-lessons-done";
const [MOST_STEPS, MOST_DONE] = [60, 200];

const NONE = { revision: 0, draft: null };

export function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    const isDraft = ["string", "object"].includes(typeof found?.draft);
    return Number.isSafeInteger(found?.revision) && isDraft ? found : NONE;
  } catch {
    return NONE; // nothing is kept, or something that is not a draft
  }
}

// Keep the draft; whether the browser could.
export function keep(revision, draft) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ revision, draft }));
    return true;
  } catch {
    return false;
  }
}

// Adds the names in `more` to the names of the lessons done in this browser, and returns all of them.
export function doneWith(more) {
  let before = [];
  try {
    before = JSON.parse(localStorage.getItem(DONE)) ?? [];
  } catch {
    // nothing is kept, or something else
  }
  const all = [...new Set([...(Array.isArray(before) ? before : []), ...more])].slice(-MOST_DONE);
  try {
    localStorage.setItem(DONE, JSON.stringify(all));
  } catch {
    // this browser keeps nothing
  }
  return all;
}

// A step more, at the end; returns what to say.
export function addStep(title, link) {
  const { revision, draft } = kept();
  const isForm = Array.isArray(draft?.steps);
  const count = isForm ? draft.steps.length : stepsIn(draft);
  if (count >= MOST_STEPS) return `A lesson has at most ${MOST_STEPS} steps. Delete one on the Lessons page.`;
  const added = isForm
    ? { ...draft, steps: [...draft.steps, { title, text: "", link, question: {} }] }
    : `${textOf(draft)}## ${title}\n\n[The picture](${link})\n`;
  if (!keep(revision + 1, added)) return "This browser stores nothing for this page. Use “Copy link” instead.";
  return `Step ${count + 1} of your draft. Write its text and question on the Lessons page.`;
}

const textOf = (draft) => (typeof draft === "string" && draft.trim() ? `${draft.trimEnd()}\n\n` : "");
const stepsIn = (draft) => (typeof draft === "string" ? (draft.match(/^## /gm) ?? []).length : 0);

// A step's title until its author gives it another: the page, its head, its sentence; nothing of Markdown.
export function titleOf(page, query) {
  const said = new URLSearchParams(query);
  const [layer, head] = [said.get("layer"), said.get("head")];
  const site = layer && head ? ` L${layer} H${head}` : "";
  const sentence = (said.get("src") ?? "")
    .replace(/[^\p{L}\p{M}\p{N} ,.?'’-]/gu, "")
    .slice(0, 60)
    .trim();
  return `${page}${site}${sentence ? `: ${sentence}` : ""}`;
}
