// A widget's host in a file of its own (attnviz/hosts/html): this runs when the file is opened, offline, and draws each picture
// from the bytes beside it. What is in view stands in the address, so that a copied address shows the same.

import { element } from "../elements.js";
import { inflated, withoutPlanes } from "../files/planes.js";
import { unpack } from "../unpack.js";
import { fragmentOf, viewIn, writeFragment } from "./fragment.js";
import { setThemeAndPrint } from "./themes.js";

const PAPER = 960; // pixels of a printed page's width: the narrower of A4 and Letter, across

const figures = [...document.querySelectorAll("figure[data-widget]")];
const isAlone = figures.length === 1;
const pictures = [];

// Widgets by name: { html, style, draw }. A file holds each once, however many pictures it draws.
const widgets = new Map();

async function widgetOf(name) {
  if (!widgets.has(name)) widgets.set(name, read(name));
  return widgets.get(name);
}

const readScript = async (which) =>
  JSON.parse(new TextDecoder().decode(await inflated(document.querySelector(`script${which}`).textContent)));

// A text; or, in a file of several widgets, which of the pieces that they share it is made of.
let pieces = null;
async function joined(text) {
  if (typeof text === "string") return text;
  pieces ??= readScript("[data-pieces]");
  const all = await pieces;
  return text.map((at) => all[at]).join("");
}

async function read(name) {
  const told = await readScript(`[data-source="${name}"]`);
  const source = { ...told, style: await joined(told.style), module: await joined(told.module) };
  globalThis.attnviz ??= {};
  document.head.append(element("script", { text: `attnviz.${name} = ${source.module}.default;` }));
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(source.style);
  return { source, sheet, draw: globalThis.attnviz[name] };
}

// Alone it has the window, less its caption; among text it is as high as it has to be.
function heightIn(figure) {
  const caption = figure.querySelector("figcaption");
  return (_, least) =>
    isAlone ? Math.max(least, Math.floor(innerHeight - caption.getBoundingClientRect().height - 20)) : least;
}

async function show(figure, number) {
  const { source, sheet, draw } = await widgetOf(figure.dataset.widget);
  const node = figure.querySelector("script");
  const data = withoutPlanes(await inflated(node.textContent), JSON.parse(node.dataset.planes));
  const place = figure.querySelector(".place");
  place.replaceChildren();
  const shadow = place.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [sheet];
  const parentElement = element("div");
  parentElement.innerHTML = source.html;
  shadow.append(parentElement);
  const { header } = unpack(data);
  const first = header.view ?? { paint: header.paint, row: header.row, zoom: header.zoom }; // the mask laboratory's
  const picture = { first, view: first, draw: drawIt };
  const report = (_, view) => {
    picture.view = view;
    writeFragment(fragmentOf(pictures, isAlone));
  };
  const host = { report, height: heightIn(figure), ...(isAlone && { keys: document }) };
  function drawIt(view) {
    try {
      draw({ parentElement, data, host, view, source: () => source });
    } catch (error) {
      if (view === first) throw error;
      draw({ parentElement, data, host, view: first, source: () => source }); // an address asks for what is not there
    }
  }
  pictures[number] = picture;
  drawIt(viewIn(location.hash, number, isAlone, first));
}

function say(figure, error) {
  const text = `This picture cannot be drawn here (${error.message}). Please open the file in a browser from 2023 or later.`;
  figure.querySelector(".place").replaceChildren(element("p", { class: "failed", text }));
}

// A frame around the file, as in a notebook's narrow cell, may become as high as its content (attnviz/hosts/notebook/show.py).
function tellHeight() {
  if (parent === window) return;
  const tell = () => parent.postMessage({ attnvizHeight: document.documentElement.scrollHeight }, "*");
  new ResizeObserver(tell).observe(document.body);
}

async function open() {
  tellHeight();
  const page = document.documentElement;
  window.addEventListener("beforeprint", () => {
    const width = document.querySelector("main").clientWidth;
    page.style.setProperty("--drawn", `${width}px`);
    page.style.setProperty("--shrunk", Math.min(1, PAPER / width)); // as a whole: nothing is drawn anew while it prints
  });
  setThemeAndPrint(page);
  window.addEventListener("hashchange", () =>
    pictures.forEach(({ draw, first }, number) => draw(viewIn(location.hash, number, isAlone, first))),
  );
  for (const [number, figure] of figures.entries())
    // oxlint-disable-next-line no-await-in-loop -- one after another: the first is to be seen first
    await show(figure, number).catch((error) => say(figure, error));
}

open();
