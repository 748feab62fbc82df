// The menu: a link to each page, with all that was chosen there. A click opens the page in this same visit; held with a
// key, or by the middle button, the link opens a tab of its own, as any other does.

import { element } from "../../../kit/js/elements.js";

export default function ({ parentElement, data, setTriggerValue }) {
  const nav = parentElement.querySelector("nav");
  const app = (nav.attnviz ??= start(nav, data.pages));
  app.open = (page) => setTriggerValue("go", { page });
  data.pages.forEach(({ page, address }, at) => {
    app.links[at].href = address;
    if (page === data.current) app.links[at].setAttribute("aria-current", "page");
    else app.links[at].removeAttribute("aria-current");
  });
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

function linkTo({ page, icon }) {
  if (!icon) return element("a", { class: "brand", "aria-label": "attnviz" }, "attn", element("b", { text: "viz" }));
  return element("a", {}, element("span", { class: "icon", "aria-hidden": "true", translate: "no", text: icon }), page);
}
