// Opens a lesson's panel in a window of its own, and keeps it in step with the picture's. Where the panel is seen is known
// to the browser alone: the picture's window always has it, and hides it (assets/styles/lessons.css) while the other is
// there, so that it comes back whatever happens to that one. The line outlives the page that it was drawn on.

import { lineOf } from "./line.js";

const ELSEWHERE = "data-lesson-elsewhere";
const LOADING = 4000; // milliseconds until a panel's window may miss the other
const STAYED = 700;
const SAYING = ["elsewhere", "alone", "back", "here"];
const NUMBER = ".st-key-lesson-number input";

export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".lesson-window");
  const at = (name) => root.querySelector(`.${name}`);
  root.data = data;
  root.tell = setStateValue;
  root.fresh = () => setTriggerValue("fresh", true);
  root.here = () => setTriggerValue("return", true);
  const line = linked(root, data);
  at("open").onclick = () => {
    const opened = window.open(data.address, `attnviz-${data.name}`, featuresOf(screen));
    at("said").textContent = opened ? "" : data.words.blocked;
    if (opened) setTriggerValue("open", true);
  };
  for (const name of SAYING) at(name).textContent = data.words[name];
  at("open").lastElementChild.textContent = data.words.open;
  at("back").onclick = () => (data.role === "panel" ? close(root) : line?.askToClose());
  at("here").onclick = root.here;
  line?.tell(data);
  if (line) hear(root, line.newest);
  show(root, line);
  document.addEventListener("focusin", askForNumberPad); // once: the function is the same each time
}

// A phone then shows its number pad, with a decimal point; Streamlit's text field cannot ask for it.
function askForNumberPad({ target }) {
  if (target.matches(NUMBER)) target.inputMode = "decimal";
}

// A third of the screen, on the right: from there it is dragged to another.
const featuresOf = ({ availWidth, availHeight, availLeft = 0 }) => {
  const width = Math.max(560, Math.round(availWidth / 3));
  return `popup,width=${width},height=${availHeight - 80},left=${availLeft + availWidth - width},top=0`;
};

function linked(root, { name, role, isLinked }) {
  const held = window.attnvizLesson;
  if (held?.name === name && held.role === role && isLinked) return Object.assign(held, { root });
  held?.end();
  return (window.attnvizLesson = isLinked ? begun(root, name, role) : null);
}

function begun(root, name, role) {
  const parameter = role === "panel" ? "panel" : "beside";
  const since = performance.now();
  const line = lineOf({
    name,
    role,
    // The address says it a moment after the page does.
    isOn: () => new URLSearchParams(location.search).get(parameter) === name || performance.now() - since < LOADING,
    hear: (newest) => window.attnvizLesson && hear(window.attnvizLesson.root, newest),
    meet: (isMet) => met(window.attnvizLesson?.root ?? root, role, isMet),
    leave: () => close(window.attnvizLesson?.root ?? root),
  });
  setTimeout(() => show(line.root, line), LOADING);
  return Object.assign(line, { root, since });
}

// Python hears once of what it does not know.
function hear(root, { revision, text }) {
  const told = `${revision} ${root.data.revision}`;
  if (revision <= root.data.revision || root.told === told) return;
  root.told = told;
  root.tell("heard", { revision, text });
}

function met(root, role, isMet) {
  show(root, window.attnvizLesson);
  if (role === "picture" && !isMet && root.isConnected) root.fresh(); // the panel is seen again, as it is by now
}

function show(root, line) {
  const isMet = Boolean(line?.isMet);
  const isPanel = root.data.role === "panel";
  document.documentElement.toggleAttribute(ELSEWHERE, !isPanel && isMet);
  const isLoading = line && performance.now() - line.since < LOADING;
  if (isPanel) root.dataset.is = isMet || isLoading ? "panel" : "alone";
  else root.dataset.is = isMet ? "elsewhere" : "docked";
}

// A window that no script has opened stays, and has the picture then.
function close(root) {
  window.close();
  setTimeout(root.here, STAYED);
}
