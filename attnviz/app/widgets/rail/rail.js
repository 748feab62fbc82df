// The menu: a link to each page, with all that was chosen there. A click opens the page in this same visit; held with a
// key, or by the middle button, the link opens a tab of its own, as any other does.
//
// After a choice on a picture Python may run only the part of the page around it. So the links also follow the address of
// the page, as the browser has it (attnviz/app/address/browser.py says when it changes).

import { element } from "../../../kit/js/elements.js";

export default function ({ parentElement, data, setTriggerValue }) {
  const nav = parentElement.querySelector("nav");
  const app = (nav.attnviz ??= start(nav, data.pages));
  app.open = (page) => setTriggerValue("go", { page });
  app.follow = () => {
    const here = data.pages.find(({ page }) => page === data.current);
    if (new URL(here.address, location.href).pathname !== location.pathname) return; // Python will say the next page's
    data.pages.forEach((page, at) => (app.links[at].href = addressNow(page, data.current, location.search)));
  };
  data.pages.forEach(({ page, address }, at) => {
    app.links[at].href = address;
    if (page === data.current) app.links[at].setAttribute("aria-current", "page");
    else app.links[at].removeAttribute("aria-current");
  });
  if (!app.heard) {
    app.heard = new AbortController();
    document.addEventListener("attnviz-address", () => app.follow(), { signal: app.heard.signal });
  }
  return () => {
    app.heard?.abort();
    app.heard = null;
  };
}

function start(nav, pages) {
  nav.getRootNode().host?.setAttribute("data-rail", ""); // where the line of a narrow screen finds it
  const app = { links: pages.map(linkTo) };
  app.links.forEach((link, at) => {
    link.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      app.open(pages[at].page);
    };
  });
  nav.replaceChildren(...app.links);
  return app;
}

// The address of a page; its `shared` texts are those of the current page's address, `search`.
export function addressNow({ page, address, shared }, current, search) {
  const [place, query] = address.split("?");
  if (page === current) return `${place}${search}`;
  const [texts, now] = [new URLSearchParams(query), new URLSearchParams(search)];
  for (const name of shared) {
    texts.delete(name);
    if (now.has(name)) texts.set(name, now.get(name));
  }
  return texts.size ? `${place}?${texts}` : place;
}

function linkTo({ page, icon }) {
  if (!icon) return element("a", { class: "brand", "aria-label": "attnviz" }, "attn", element("b", { text: "viz" }));
  return element("a", {}, element("span", { class: "icon", "aria-hidden": "true", translate: "no", text: icon }), page);
}
