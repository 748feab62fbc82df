// Copies this page's address with the query that Python made. Where the browser refuses (no permission, plain http from
// another machine), the link is shown, selected, to be copied by hand. A link is mostly meant for somebody else: where
// nobody else can follow it, that is said.

const OWN_NAMES = /^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/; // each computer's own names for itself
const SEEN = 1500; // milliseconds
const READ = 6000;

export const reachOf = (name) =>
  OWN_NAMES.test(name) ? `This link opens on this computer only: ${name} is every computer's name for itself.` : "";

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button");
  const field = parentElement.querySelector("input");
  const note = parentElement.querySelector("p");
  button.onclick = async () => {
    const link = `${location.origin}${location.pathname}?${data.query}`;
    tellReach(note);
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy link"), SEEN);
    } catch {
      field.hidden = false;
      field.value = link;
      field.select();
      field.onblur = () => (field.hidden = true);
    }
  };
}

function tellReach(note) {
  note.textContent = reachOf(location.hostname);
  note.hidden = !note.textContent;
  clearTimeout(note.waiting);
  note.waiting = setTimeout(() => (note.hidden = true), READ);
}
