// Copies this page's address with the query that Python made, or the code that shows it in another page. Where the
// browser refuses (no permission, plain http from another machine), it is shown, selected, to be copied by hand. A link is
// mostly meant for other people: where it opens on this computer only, a note says so. The button beside presents the picture
// (attnviz/app/widgets/screen); a link that is copied meanwhile presents it, too. Another adds the picture to the draft of a
// lesson, which the browser keeps (attnviz/lessons/draft_keeper).

import { addStep, titleOf } from "./kept_draft.js";

const OWN_NAMES = /^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/; // each computer's own names for itself
const SEEN = 1500; // milliseconds
const READ = 6000;
const READ_A_LETTER = 60;
const FRAMED =
  "Another site can show this only if the setting embedders of this server names that site. A page or a class with a " +
  "password cannot be embedded: in another site’s frame the browser does not send the login.";

export const reachOf = (name) =>
  OWN_NAMES.test(name) ? `This link works on this computer only: ${name} always means “this computer”.` : "";

const escaped = (text) =>
  text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

export const frameOf = (link, title) =>
  `<iframe src="${escaped(link)}" title="${escaped(title)}" width="960" height="600" style="border: 0" loading="lazy"></iframe>`;

export default function ({ parentElement, data }) {
  const part = (name) => parentElement.querySelector(name);
  const [link, embed] = [part(".link"), part(".embed")];
  link.onclick = () => copy(part, link, { text: addressOf(data, isPresented()), name: "Link to this picture" });
  embed.onclick = () =>
    copy(part, embed, {
      text: frameOf(addressOf(data, true), document.title),
      name: "Code that shows this picture",
      note: FRAMED,
    });
  const add = part(".add");
  add.onclick = () => {
    const said = addStep(titleOf(document.title.split(" · ")[0], data.ofStep), `${location.pathname}?${data.ofStep}`);
    tell(part("p"), said);
  };
  part(".present").onclick = () => document.dispatchEvent(new Event("attnviz-present"));
  for (const button of [link, embed, add, part(".present")]) button.disabled = false; // no press is lost before this
}

const isPresented = () => document.documentElement.hasAttribute("data-present");

const addressOf = ({ query }, isAlone) =>
  `${location.origin}${location.pathname}?${query}${isAlone ? "&present=1" : ""}`;

async function copy(part, button, { text, name, note = "" }) {
  tell(part("p"), [note, reachOf(location.hostname)].filter(Boolean).join(" "));
  try {
    await navigator.clipboard.writeText(text);
    const title = (button.dataset.title ??= button.textContent);
    button.textContent = title.length > 3 ? "Copied" : "✓";
    setTimeout(() => (button.textContent = title), SEEN);
  } catch {
    const field = part("input");
    field.hidden = false;
    field.setAttribute("aria-label", name);
    field.value = text;
    field.select();
    field.onblur = () => (field.hidden = true);
  }
}

function tell(note, text) {
  note.textContent = text;
  note.hidden = !text;
  clearTimeout(note.waiting);
  note.waiting = setTimeout(() => (note.hidden = true), Math.max(READ, READ_A_LETTER * text.length));
}
