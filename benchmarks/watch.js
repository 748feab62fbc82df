// Runs in the page before anything else: notes when the dashboard has painted, and how long that was after a key.
window.attnvizWatch = {
  // The root of the Heads component, through whatever shadow roots stand in between.
  root(node = document) {
    for (const element of node.querySelectorAll("*")) {
      if (element.hasAttribute("data-attnviz-painted")) return element;
      const inside = element.shadowRoot && this.root(element.shadowRoot);
      if (inside) return inside;
    }
    return null;
  },

  painted() {
    return this.root()?.getAttribute("data-attnviz-painted") ?? "";
  },

  idle() {
    const app = document.querySelector("[data-testid='stApp']");
    return app?.getAttribute("data-test-script-state") === "notRunning";
  },

  // Which edit the Masks page has answered with the model run again, and whether all that it writes is there.
  said() {
    const said = document.querySelector(".verdict[data-edit]")?.dataset;
    return said ? [Number(said.edit), said.written === "whole"] : [0, false];
  },

  // Milliseconds from the next press of a key to the next frame (what the component does at once), to the first frame in
  // which another picture stands, and to the end of its run; on the Masks page also to the first words that the model
  // now says, and to the last.
  fromKey(key) {
    const before = this.painted();
    const edit = this.said()[0];
    let atOnce = null;
    let picture = null;
    let words = null;
    let text = null;
    this.result = new Promise((resolve) => {
      const start = (event) => {
        if (event.key !== key) return;
        removeEventListener("keydown", start, true);
        const frame = (now) => {
          atOnce ??= performance.now() - event.timeStamp; // a frame's own time may be that of the key
          if (picture === null && this.painted() !== before) picture = now - event.timeStamp;
          const [answered, whole] = this.said();
          if (words === null && answered > edit) words = now - event.timeStamp;
          if (words !== null && text === null && whole) text = now - event.timeStamp;
          if (picture !== null && this.idle() && (text !== null || !document.querySelector(".verdict[data-edit]")))
            resolve({ atOnce, picture, words, text, everything: now - event.timeStamp });
          else requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
      };
      addEventListener("keydown", start, true);
    });
  },

  // Milliseconds that a key costs: everything the component does at once, and the layout that follows from it.
  press(key) {
    const root = this.root();
    const started = performance.now();
    root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    root.getBoundingClientRect();
    return performance.now() - started;
  },

  // Milliseconds since the navigation began, in the first frame with a picture.
  firstPicture() {
    return new Promise((resolve) => {
      const frame = (now) => (this.painted() ? resolve(now) : requestAnimationFrame(frame));
      requestAnimationFrame(frame);
    });
  },
};
