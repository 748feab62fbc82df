// Takes an image that is pasted or dropped anywhere on the page, and hands it to the upload in the top bar, which is
// Streamlit's own: its limits hold, and it shows how the upload goes.

const OPENER = ".st-key-own-image-opener button";
const FIELD = ".st-key-own-image input[type=file]";
const OPENING = 5000; // milliseconds that the opened field may take to appear

export default function ({ parentElement }) {
  if (parentElement.takesImages) return; // this script runs again with every run of the page
  parentElement.takesImages = true;
  const stop = new AbortController();
  const listen = (type, take) =>
    document.addEventListener(type, (event) => (parentElement.isConnected ? take(event) : stop.abort()), {
      signal: stop.signal,
    });
  listen("paste", (event) => takeFrom(event, event.clipboardData));
  listen("drop", (event) => takeFrom(event, event.dataTransfer));
  listen("dragover", (event) => {
    if (!isUpload(event.target) && hasFile(event.dataTransfer)) event.preventDefault(); // so that the page may be dropped on
  });
}

const hasFile = (given) => [...(given?.items ?? [])].some(({ kind }) => kind === "file");
const isUpload = (target) => Boolean(target.closest?.("[data-testid=stFileUploader]")); // it hears what is dropped on it

function takeFrom(event, given) {
  const image = [...(given?.files ?? [])].find(({ type }) => type.startsWith("image/"));
  if (!image || isUpload(event.target)) return;
  event.preventDefault();
  hand(image, performance.now());
}

async function hand(image, began) {
  if (!document.querySelector(FIELD)) document.querySelector(OPENER)?.click();
  while (!document.querySelector(FIELD)) {
    if (performance.now() - began > OPENING) return;
    await new Promise((resume) => setTimeout(resume, 30));
  }
  const [field, files] = [document.querySelector(FIELD), new DataTransfer()];
  files.items.add(image);
  field.files = files.files;
  field.dispatchEvent(new Event("change", { bubbles: true }));
}
