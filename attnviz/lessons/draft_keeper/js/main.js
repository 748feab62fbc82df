// Keeps the draft of a lesson in the browser while it is written, and brings it back. It draws nothing. The newer of the
// two holds: what Python has is kept, or Python is told what the browser has, also when another tab has changed it.

import { caretIn } from "./caret.js";
import { KEY, doneWith, keep, kept } from "../../../app/widgets/copy_link/kept_draft.js";

const REST = 700; // milliseconds without a key, until Python hears of a long text

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".draft-keeper");
  root.settle = () => settle(root, data, setStateValue);
  root.tellCaret = (field) => tellCaret(root, field, setStateValue);
  root.settle();
  tellDone(root, data.done, setStateValue);
  if (root.isListening) return;
  root.isListening = true;
  addEventListener("storage", ({ key }) => root.isConnected && key === KEY && root.settle());
  document.addEventListener("input", ({ target }) => root.isConnected && commitSoon(target));
  document.addEventListener("selectionchange", () => root.isConnected && tellSoon(root, document.activeElement));
}

function settle(root, data, setStateValue) {
  const { revision, draft } = kept();
  if (data.revision > revision && data.text) {
    const isKept = keep(data.revision, JSON.parse(data.text));
    root.querySelector("p").hidden = isKept;
  } else if ((revision > data.revision || !data.isKnown) && root.told !== `${revision} ${data.revision}`) {
    root.told = `${revision} ${data.revision}`; // once
    setStateValue("kept", { text: draft ? plain(draft) : "", revision, time: Date.now() });
  }
}

// Tells Python once which other lessons were done in this browser before.
function tellDone(root, known, setStateValue) {
  const all = doneWith(known);
  const text = plain(all);
  if (all.every((name) => known.includes(name)) || root.toldDone === text) return;
  root.toldDone = text;
  setStateValue("done", { text, time: Date.now() });
}

// What a component tells is printable characters only.
const plain = (draft) =>
  JSON.stringify(draft).replace(/[^ -~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

const isOurs = (field) => field?.tagName === "TEXTAREA" && field.closest(".st-key-draft");

// Streamlit hears of a text area when it is left, and of Ctrl+Enter: pressed here, so that nothing typed is lost.
function commitSoon(field) {
  if (!isOurs(field)) return;
  clearTimeout(field.attnvizWaiting);
  field.attnvizWaiting = setTimeout(() => {
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }));
  }, REST);
}

function tellSoon(root, field) {
  if (!isOurs(field) || !field.closest(".st-key-draft-text")) return;
  clearTimeout(root.caretWaiting);
  root.caretWaiting = setTimeout(() => root.tellCaret(field), REST);
}

// Tells Python of the caret when it rests in another step, or on another line whose value can be chosen.
function tellCaret(root, field, setStateValue) {
  const { line, place } = caretIn(field.value, field.selectionStart);
  if (place === root.caretPlace) return;
  root.caretPlace = place;
  setStateValue("caret", { line, time: Date.now() });
}
