// The menu's links (attnviz/app/widgets/rail), from wherever on the page they are asked for.

export const railLinks = () => [...(document.querySelector("[data-rail]")?.shadowRoot.querySelectorAll("a") ?? [])];
