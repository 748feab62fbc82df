// The picture as one file that opens anywhere, without Python and without a network: in the browser, the file that
// attnviz/hosts/html/one_file.py writes.

import { saveFile } from "../elements.js";
import { repacked } from "../unpack.js";
import { FIGURE, PAGE } from "./page.js";
import { LACKS, WIDGET } from "./parts.js";

export async function saveHTML(app, name, caption) {
  const alone = { view: viewOf(app), lacks: LACKS, places: {} }; // no pages that a model's drawing could lead to
  const bytes = repacked(app.data, (header) => ({ ...header, ...alone }));
  const source = new TextEncoder().encode(JSON.stringify(app.source()));
  const figure = filled(FIGURE, {
    widget: WIDGET,
    planes: "[]",
    bytes: await deflated(bytes),
    caption: caption.map((line) => `<p>${escaped(line)}</p>`).join(""),
  });
  const title = escaped(caption[0] ?? "attnviz");
  const file = filled(PAGE, {
    title,
    content: `<h1 class="unseen">${title}</h1>\n${figure}`,
    widgets: `<script type="text/plain" data-source="${WIDGET}">${await deflated(source)}</script>`,
  });
  saveFile(`${name}.html`, [file], "text/html;charset=utf-8");
}

// As it is in view now.
const viewOf = (app) => app.widget.viewOf?.(app) ?? { ...app.view, seq: 0 };

// One pass: a text that is put in may look like a place for another.
const filled = (text, parts) => text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);

const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };
const escaped = (text) => text.replaceAll(/[&<>"']/g, (sign) => SIGNS[sign]);

// Deflated, in base64.
async function deflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  const small = new Uint8Array(await new Response(stream).arrayBuffer());
  let signs = "";
  for (let at = 0; at < small.length; at += 32768) signs += String.fromCharCode(...small.subarray(at, at + 32768));
  return btoa(signs);
}
