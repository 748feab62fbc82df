// A frame of a live picture is as high as its picture, where a browser lets the page ask: not on pages from the disk.

function fit(frame) {
  const page = frame.contentDocument;
  if (page?.documentElement) frame.height = Math.max(page.documentElement.scrollHeight, 200) + 2;
}

document.addEventListener("DOMContentLoaded", () => {
  for (const frame of document.querySelectorAll("iframe.live"))
    frame.addEventListener("load", () => setTimeout(fit, 600, frame));
});
