// The draft of a lesson, as the browser keeps it for all its tabs: { revision, draft }, in localStorage. Every change counts
// the revision up; the higher one is the newer. What a draft holds, attnviz/lessons/draft.py says.

export const KEY = "attnviz-draft";
const MOST_STEPS = 60;

const NONE = { revision: 0, draft: null };

export function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    return Number.isSafeInteger(found?.revision) && typeof found.draft === "object" ? found : NONE;
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

// A step more, at the end; returns what to say.
export function addStep(title, link) {
  const { revision, draft } = kept();
  const steps = Array.isArray(draft?.steps) ? draft.steps : [];
  if (steps.length >= MOST_STEPS) return `A lesson has at most ${MOST_STEPS} steps. Delete one on the Lessons page.`;
  const name = Date.now().toString(36) + steps.length;
  const added = { ...draft, steps: [...steps, { name, title, text: "", link, question: {} }] };
  if (!keep(revision + 1, added)) return "This browser stores nothing for this page. Use “Copy link” instead.";
  return `Step ${steps.length + 1} of your draft. Write its text and question on the Lessons page.`;
}

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
