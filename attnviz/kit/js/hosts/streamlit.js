// A widget's host where it is a component of Streamlit's: the page around it. Its colours are `--st-*` (kit/css/buttons.css).

const RESERVE = 44; // pixels below a picture, for the status bar

export function streamlit(root, setStateValue) {
  root.getRootNode().host?.setAttribute("data-picture", ""); // what can be presented: attnviz/app/widgets/screen
  return { report: setStateValue, height: heightIn, isBusy, keys: document, lacks: [], saveTrace };
}

// As high as leaves the page without a scroll bar, and at least `least`.
function heightIn(root, least) {
  let top = root.getBoundingClientRect().top;
  for (let node = root; node; node = node.parentElement ?? node.getRootNode().host) top += node.scrollTop || 0;
  return Math.max(least, Math.floor(innerHeight - top - RESERVE));
}

// Whether Python is at work, and what it will say is not here yet.
function isBusy() {
  const page = document.querySelector("[data-testid='stApp']");
  return Boolean(page) && page.dataset.testScriptState !== "notRunning";
}

// The page has a hidden button of its own for the whole trace; not while a question covers some of it.
function saveTrace() {
  const button = document.querySelector(".st-key-npz button");
  button?.click();
  return Boolean(button);
}
