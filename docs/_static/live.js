// Frames of live pictures: each is as high as its picture, and light or dark as the page is. A browser lets the page
// reach into them where both come from a server; opened from the disk they keep their height and the system's colours.

const root = document.documentElement;
const frames = () => [...document.querySelectorAll("iframe.live, .live-card iframe")];

function dress(frame) {
  frame.contentDocument?.documentElement?.setAttribute("theme", root.dataset.theme === "dark" ? "dark" : "light");
}

function fit(frame) {
  const page = frame.contentDocument?.documentElement;
  if (page && frame.matches(".live")) frame.height = Math.max(page.scrollHeight, 200) + 2;
}

document.addEventListener("DOMContentLoaded", () => {
  for (const frame of frames())
    frame.addEventListener("load", () => {
      dress(frame);
      setTimeout(fit, 600, frame); // by then it is drawn
    });
  new MutationObserver(() => frames().forEach(dress)).observe(root, { attributeFilter: ["data-theme"] });
});
