// Where a term is tried: a page, and a tab of it. The link there stands in the term's bubble, unless that is what is open.

import { element } from "../../../kit/js/elements.js";
import { railLinks } from "../../../kit/js/rail.js";

export const KEY = "Alt+Enter";

// `told` is the page's list: term -> [page, tab ("" for the first one), the tab's title].
export function readPlaces(told) {
  const places = Object.entries(told).map(([term, [page, tab, title]]) => ({ term, page, tab, title }));
  const tabs = new Set(places.map(({ page, tab }) => `${page} ${tab}`));
  return { tabs, byTerm: new Map(places.map((place) => [place.term.toLowerCase(), place])) };
}

// The place of the first of these words that is tried elsewhere; null where there is none.
export function elsewhere({ tabs, byTerm }, words) {
  const found = words.map((word) => byTerm.get(word.toLowerCase()));
  return found.find((place) => place && !isOpen(place, tabs) && addressOf(place)) ?? null;
}

export const saidOf = ({ page, title }) => `Try it on ${title ? `${page}: ${title}` : page}`;

export function linkNode(place, follow) {
  const said = [element("span", { text: saidOf(place) }), element("kbd", { text: KEY })];
  const link = element("a", { class: "try", href: addressOf(place), tabindex: "-1" }, ...said);
  link.onclick = (event) => followed(event, () => follow(place.term));
  return link;
}

// With a key held down a link opens in another tab, as links do.
export function followed(event, follow) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  follow();
}

const pageAt = (pathname) => pathname.split("/").pop();

function isOpen({ page, tab }, tabs) {
  const now = new URLSearchParams(location.search).get("tab") ?? "";
  return pageAt(location.pathname) === page.toLowerCase() && tab === (tabs.has(`${page} ${now}`) ? now : "");
}

// As the menu has it: the page as this visitor left it, with the sentence that is typed above.
function addressOf({ page, tab }) {
  const entry = railLinks().find((link) => pageAt(link.pathname) === page.toLowerCase());
  if (!entry) return null;
  const address = new URL(entry.href);
  if (tab) address.searchParams.set("tab", tab);
  else address.searchParams.delete("tab");
  return address.href;
}
