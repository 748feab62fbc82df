// Scrolls to a container of the page when it was opened once more, and again while what is in it is still growing.

const GROWING = 4000; // milliseconds: Plotly itself may have to be loaded first

export default function ({ data: { target, times } }) {
  const seen = (window.attnvizBroughtUp ??= {}); // this script runs again on every page that has the component
  const before = seen[target] ?? 0;
  seen[target] = times;
  if (times > before) bringUp(`.st-key-${CSS.escape(target)}`, performance.now());
}

// A hand that scrolls has found what it looks for.
function bringUp(selector, began) {
  const stop = new AbortController();
  for (const type of ["wheel", "touchmove", "keydown", "pointerdown"])
    window.addEventListener(type, () => stop.abort(), { signal: stop.signal, passive: true, capture: true });
  let height = 0;
  const look = () => {
    const node = document.querySelector(selector);
    if (stop.signal.aborted || performance.now() - began > GROWING) return stop.abort();
    if (node && node.offsetHeight !== height) {
      height = node.offsetHeight;
      node.scrollIntoView({ block: "start", behavior: "instant" });
    }
    setTimeout(look, 80);
  };
  look();
}
