// What a page shows, as text that two of them can be compared by; what is wrong with it at a glance; whether it is at rest.

(() => {
  // Numbers that no reload brings back: how long something took, and what it took of a machine that others use too.
  // And how often two threads, let loose on one module, met in it.
  const MEASURED =
    /[\d.,]+(e[-+]\d+)?\s*(ms|µs|s|seconds|MB|GB|×)(?![\w])|\d+ of \d+(?= maps were the other visitor's)/g;
  const OUTSIDE =
    "[data-trigger], [data-testid=stPopoverBody], [role=dialog], .help, .menu-list, [data-testid=stAlert], [data-testid=stDataFrame], [class*=gdg-search], .tip, [aria-live], .js-plotly-plot, [role=status]:not(.status-bar), [data-testid=stSpinner], .drawing, .ways-box, .all-ways";
  const tidy = (text) =>
    text
      .replace(MEASURED, "…")
      .replace(/\s+/g, " ")
      .trim()
      .replace(/^Copied$/, "Copy link")
      .replace("expand_less", "expand_more"); // the arrow of a menu, which a reload closes
  const every = () => window.walkControls.every();
  const apps = () => every().filter((node) => node.attnviz?.payload);

  // Streamlit's messages, as far as they are needed: field 11 to the server asks for a run, field 6 from it tells that
  // one has ended, for good unless it says 2 (streamlit/proto/BackMsg.proto, ForwardMsg.proto).
  const [ASKS, ENDED, FOR_ANOTHER] = [11, 6, 2];

  function* messageFields(bytes) {
    let at = 0;
    const varint = () => {
      let value = 0;
      for (let shift = 1; ; shift *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * shift;
        if (!(byte & 128)) return value;
      }
    };
    while (at < bytes.length) {
      const tag = varint();
      const value = varint();
      yield [tag >> 3, value];
      if ((tag & 7) === 2) at += value;
    }
  }

  let acted = 0;
  let asked = 0;
  let heard = 0;
  let ended = 0;
  const Socket = window.WebSocket;
  window.WebSocket = class extends Socket {
    constructor(...how) {
      super(...how);
      this.addEventListener("message", ({ data }) => {
        heard = performance.now();
        if (!(data instanceof ArrayBuffer)) return;
        for (const [field, value] of messageFields(new Uint8Array(data)))
          if (field === ENDED && value !== FOR_ANOTHER) ended = heard;
      });
    }
    send(message) {
      if (message instanceof Uint8Array && [...messageFields(message)].some(([field]) => field === ASKS))
        asked = performance.now();
      return super.send(message);
    }
  };

  // A component whose place is there already, but not what it draws.
  const isComing = () =>
    every().some((node) =>
      node.matches("[lang=und]") ? !node.attnviz?.payload : node.matches(".st-key-copy-link") && !linkButton(),
    );
  const linkButton = () =>
    every().find((node) => node.tagName === "BUTTON" && /^(Copy link|Copied)$/.test(node.textContent));

  // A component tells Python of a choice when the hand has rested for a quarter of a second: a page that asks nothing
  // for longer has nothing to ask; one that has asked is at rest when its script has run to its end.
  function isAtRest(patience) {
    const app = document.querySelector("[data-testid=stApp]");
    const now = performance.now();
    if (app?.dataset.testScriptState !== "notRunning" || app.dataset.testConnectionState !== "CONNECTED") return false;
    if (!asked || asked > ended || document.querySelector("[data-testid=stSkeleton], [data-stale=true]")) return false;
    return (asked > acted ? now - Math.max(heard, asked) > 120 : now - acted > patience) && !isComing();
  }

  function* texts(node) {
    if (node.nodeType === Node.TEXT_NODE) yield node.data;
    if (node.nodeType !== Node.ELEMENT_NODE && node.nodeType !== Node.DOCUMENT_FRAGMENT_NODE) return;
    if (
      node.matches?.(`style, script, ${OUTSIDE}`) ||
      (node.checkVisibility && !node.checkVisibility({ visibilityProperty: true }))
    )
      return;
    for (const child of (node.shadowRoot ?? node).childNodes) yield* texts(child);
    if (node.matches?.("p, div, li, tr, h1, h2, h3, h4, header, section, button, span, td")) yield "\n";
  }

  const main = () => document.querySelector("[data-testid=stMain]") ?? document.body;
  const text = () => [...texts(main())].join("");
  const REFUSED = /^Error: Number is outside/; // Streamlit's own, under a number that it has not taken
  const lines = () =>
    text()
      .split("\n")
      .map(tidy)
      .filter((line) => line && !REFUSED.test(line));

  const copy = new OffscreenCanvas(1, 1);
  const reader = copy.getContext("2d", { willReadFrequently: true });

  function pixelsOf(canvas) {
    Object.assign(copy, { width: canvas.width, height: canvas.height });
    reader.drawImage(canvas, 0, 0);
    return hashed(new Uint32Array(reader.getImageData(0, 0, canvas.width, canvas.height).data.buffer));
  }

  function hashed(numbers) {
    let hash = 7;
    for (const number of numbers) hash = (Math.imul(hash, 31) + number) | 0;
    return hash;
  }

  // What begins anew with a reload: the step of the model's drawing, and how many ways to align are listed in what order.
  const beginsAnew = (node) => Boolean(node.closest(".drawing, .ways-box, .all-ways"));
  const STATES = ["aria-pressed", "aria-selected", "aria-checked", "aria-expanded"];

  function stateOf(node) {
    if (node.getAttribute("aria-invalid") === "true") return null; // what is refused counts for nothing
    if (node.type === "radio" || node.type === "checkbox") return String(node.checked);
    if (node.matches("input, select, textarea")) return node.value;
    if (node.closest("[data-testid=stMenuButton]")) return "";
    return STATES.map((name) => node.getAttribute(name))
      .filter(Boolean)
      .join(" ");
  }

  function fields() {
    const values = window.walkControls
      .found()
      .filter(([node, { over, place }]) => !over && !["plotly", "table", "help"].includes(place) && !beginsAnew(node))
      .map(([node, { place, role, name, nth }]) => [`${place} ${role} “${tidy(name)}” ${nth}`, stateOf(node)]);
    return Object.fromEntries(values.filter(([, value]) => value !== ""));
  }

  function plots() {
    const numbers = ({ x, y, z }) => hashed([...JSON.stringify([x, y, z])].map((sign) => sign.charCodeAt(0)));
    return [...document.querySelectorAll(".js-plotly-plot")].map(({ data, layout }) =>
      tidy(
        [layout.title?.text ?? "", ...data.map((trace) => `${trace.type} ${trace.name ?? ""} ${numbers(trace)}`)].join(
          " | ",
        ),
      ),
    );
  }

  function viewOf(root) {
    const view = JSON.parse(root.dataset.attnvizView ?? "{}");
    delete view.seq;
    return view;
  }

  // Where a visitor is: what the fields say, what is to read, what each component has in view, and the pixels it drew.
  function picture() {
    const views = apps().flatMap((app) => (beginsAnew(app) ? [] : `${app.className} ${JSON.stringify(viewOf(app))}`));
    const canvases = every().filter(
      (node) =>
        node.tagName === "CANVAS" && node.width && node.checkVisibility() && !node.closest("[data-testid=stDataFrame]"),
    );
    const drawn = canvases.map((node) => [`${node.width}×${node.height}`, pixelsOf(node)]);
    return {
      path: location.pathname,
      title: document.title,
      fields: fields(),
      lines: lines(),
      views,
      plots: plots(),
      drawn,
    };
  }

  const strings = function* (value) {
    if (typeof value === "string") yield value;
    else if (value instanceof Map) for (const inner of value.values()) yield* strings(inner);
    else if (value && typeof value === "object" && !ArrayBuffer.isView(value))
      for (const inner of Object.values(value)) yield* strings(inner);
  };

  const isWithoutLink = () =>
    /The picture shows your own tensors|Covered until (you answer|the teacher reveals)/.test(main().innerText) ||
    ["/lessons", "/class"].includes(location.pathname);

  const copied = () => {
    window.walkCopied = "";
    linkButton()?.click();
    return window.walkCopied;
  };

  const problems = () => [
    ...[...document.querySelectorAll("[data-testid=stException], .stException")].map(
      (node) => `an exception on the page: ${tidy(node.innerText).slice(0, 300)}`,
    ),
    ...(/Traceback \(most recent call last\)/.test(document.body.innerText) ? ["a traceback on the page"] : []),
    ...[...document.querySelectorAll("[role=dialog]")]
      .filter((node) => /No connection|Connection error|Is Streamlit still running/.test(node.innerText))
      .map(() => "the page lost its connection"),
  ];

  // Streamlit asks where to save a table, if the browser can ask: here nobody answers, and it is saved as files are.
  delete window.showSaveFilePicker;
  Object.defineProperty(navigator, "clipboard", {
    value: {
      writeText: async (words) => {
        window.walkCopied = words;
      },
    },
  });

  window.walkPage = {
    // What plays or is trained moves on; what is measured when a button is pressed, and a file that is handed in, belong to
    // that visit.
    isPassing: () =>
      isWithoutLink() ||
      every().some(
        (node) => node.tagName === "BUTTON" && /^(Pause$|Measure|Back to the recordings$)/.test(node.innerText.trim()),
      ),
    act: () => {
      acted = performance.now();
    },
    isAtRest,
    picture,
    look: () => ({
      problems: problems(),
      refused: [...document.querySelectorAll("[data-testid=stAlertContentError]")].map((node) => tidy(node.innerText)),
      isWithoutLink: isWithoutLink(),
      typed: Object.fromEntries(
        [...document.querySelectorAll(".st-key-top-bar input")].map((node) => [
          node.getAttribute("aria-label"),
          node.value,
        ]),
      ),
      others: [...document.querySelectorAll("input[type=text]:not([role=combobox]), textarea")]
        .filter((node) => node.checkVisibility())
        .map((node) => node.value),
      status: document.querySelector(".status-bar")?.innerText ?? "",
      text: text(),
      // Of links to other pages, `places`, the header says what waits there; it is not shown here.
      data: apps().flatMap(({ attnviz: { payload } }) => [
        ...strings([{ ...payload.header, places: null }, payload.kinds]),
      ]),
      views: apps().map(viewOf),
      link: window.walkControls.overlays() ? null : copied(), // which would close what lies over the page
      address: location.href,
    }),
  };
})();
