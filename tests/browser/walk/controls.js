// Every control that a visitor can see, found in the page: by role, by tag, and by the handlers that our components set.
// Looked for in shadow roots too. What is told of a control is enough to find it again on the same page.

(() => {
  // Streamlit's own folds are left as they are: whether one is open is no part of an address, and a reload decides anew.
  const isFold = (node) => node.matches("[data-testid=stExpander] > details > summary");
  const NATIVE = "button, a[href], input, select, textarea, summary, [contenteditable=true]";
  const ROLES = "tab option radio checkbox switch slider spinbutton combobox menuitem gridcell button link textbox";
  const SELECTOR = [NATIVE, ...ROLES.split(" ").map((role) => `[role=${role}]`)].join(",");
  const HANDLERS = ["onclick", "onpointerdown", "onmousedown", "ondblclick"];

  const parentOf = (node) => node.parentElement ?? node.getRootNode().host ?? null;

  function* every(root = document.body) {
    for (const node of root.querySelectorAll("*")) {
      yield node;
      if (node.shadowRoot) yield* every(node.shadowRoot);
    }
  }

  const ancestors = function* (node) {
    for (let at = node; at; at = parentOf(at)) yield at;
  };

  function isShown(node) {
    const isFile = node.type === "file"; // browsers hide these behind a button of their own
    const place = isFile ? parentOf(node) : node;
    const boxes = [place, parentOf(place) ?? place].map((at) => at.getBoundingClientRect());
    // What is there for screen readers alone stands in a box of one pixel.
    if (boxes[0].width < 2 || boxes[0].height < 2 || (boxes[1].width === 1 && boxes[1].height === 1)) return false;
    // Streamlit's anchors of headings are there for the pointer alone.
    return isFile || node.checkVisibility({ visibilityProperty: true, opacityProperty: node.tagName === "A" });
  }

  // What a hand would press: Streamlit keeps boxes, radios and the place for a file out of sight, in something that is seen.
  const handleOf = (node) =>
    node.type === "file"
      ? parentOf(node)
      : ((node.type === "radio" || node.type === "checkbox") && node.closest("label")) || node;

  const isOff = (node) => node.disabled || node.getAttribute("aria-disabled") === "true" || node.matches("[inert] *");

  // Where it stands: the keys that Streamlit gives its containers, the classes of our components.
  function placeOf(node) {
    // Streamlit's own tools are the same everywhere: of a Plotly figure, a table and a question mark beside a label.
    if (node.closest("[data-testid=stPlotlyChart], .js-plotly-plot")) return "plotly";
    if (node.closest("[data-testid=stFullScreenFrame], [data-testid=stDataFrame]")) return "table";
    if (node.closest("[data-testid=stTooltipIcon]")) return "help";
    const names = [];
    for (const at of ancestors(node)) {
      const key = [...at.classList].find((name) => name.startsWith("st-key-"));
      const part = at.getAttribute("role") === "dialog" ? "dialog" : at.matches?.("[lang=und]") ? at.className : null;
      const name = key?.slice(7) ?? part ?? (at.dataset?.testid === "stSidebar" ? "sidebar" : null);
      if (name && names[0] !== name) names.unshift(name);
    }
    return names.slice(-3).join("/");
  }

  function roleOf(node) {
    const tag = node.tagName.toLowerCase();
    const role = node.getAttribute("role");
    if (tag === "input") return role === "combobox" ? role : node.type;
    return role ?? { a: "link", select: "select", summary: "button" }[tag] ?? tag;
  }

  const tidy = (text) => [...(text ?? "").replace(/\s+/g, " ").trim()].slice(0, 60).join("");

  function nameOf(node) {
    const labelled = node.getAttribute("aria-label") || node.labels?.[0]?.textContent || node.title;
    const list = node.tagName === "SELECT" || node.tagName === "INPUT" ? "" : node.textContent;
    const choice = node.type === "radio" || node.type === "checkbox" ? node.closest("label")?.textContent : "";
    if (node.tagName === "CANVAS") return tidy(node.getAttribute("aria-label")); // in a table's are its numbers
    if (node.textContent === "Copied") return "Copy link"; // which it says again a moment later
    return tidy(choice || labelled || list || node.placeholder || node.name || node.className?.baseVal);
  }

  // Of what Plotly draws, its map and its buttons are used; not the handles of its axes, and what lies under the pointer.
  const isHandle = (node) => node.closest(".js-plotly-plot svg") && !node.matches(".nsewdrag, button, [role=button]");
  // What is used by using another: a picture in a cell or a button, the arrow of a list and what it lets down, the label
  // of a box, which is its handle.
  const isPart = (node) =>
    (node.tagName === "CANVAS" && Boolean(node.closest("[role=gridcell], button"))) ||
    Boolean(node.closest("[data-testid=stSelectboxVirtualDropdown], [data-testid=stMultiSelectDropdown]")) ||
    (node.tagName === "BUTTON" &&
      Boolean(node.closest("[data-testid=stSelectbox]") && !node.closest("[data-testid=stTooltipIcon]"))) ||
    (node.tagName === "LABEL" && Boolean(node.querySelector("input")));
  const isControl = (node) =>
    !isHandle(node) &&
    !isPart(node) &&
    !isFold(node) &&
    (node.matches(SELECTOR) || HANDLERS.some((name) => node[name]) || node.matches("canvas, rect.drag"));

  // Pictures, the rows and tokens of a list, the columns of a table and the entries of Streamlit's menus are named by what
  // they show at the moment: what they are tells them apart from other kinds.
  const NAMED_BY_DATA = "img canvas option listbox tr div span rect".split(" ");

  const isOurs = (node) => [...ancestors(node)].some((at) => at.matches?.("[lang=und]"));

  function likeOf(node, { place, role }) {
    if (node.closest(".numbers th")) return "column"; // a click on it sorts by it: whichever it is
    if ((place === "table" && role === "checkbox") || (role === "menuitem" && !isOurs(node))) return role;
    const kind = String(node.className?.baseVal ?? node.className).replace(/st-emotion\S*/g, "");
    return NAMED_BY_DATA.includes(role) ? `${node.tagName} ${kind}` : "";
  }

  // Streamlit puts controls in labels and buttons into buttons: the innermost one is the one that is used.
  function found() {
    const seen = new Map();
    const list = [];
    for (const node of every()) {
      if (!isControl(node) || isOff(node) || !isShown(handleOf(node))) continue;
      const told = { place: placeOf(node), role: roleOf(node), name: nameOf(node) };
      const text = JSON.stringify(told);
      const nth = seen.get(text) ?? 0;
      seen.set(text, nth + 1);
      list.push([node, { ...told, nth, like: likeOf(node, told) }]);
    }
    return list;
  }

  const options = (node) =>
    node.tagName === "SELECT" ? [...node.options].filter(({ disabled }) => !disabled).map(({ value }) => value) : [];
  const OVERLAY =
    "[data-trigger], [data-testid^=stDataFrameColumn], [data-testid=stPopoverBody], [role=dialog]:not([lang=und] *), .help, .numbers, .menu-list";
  const overlayOf = (node) => [...ancestors(node)].find((at) => at.matches?.(OVERLAY)) ?? null;
  const parts = (text) => text.split(/\s*,\s*/);

  // The keys that a component's own help lists under "Keys", and those that its controls are said to have.
  const KEY = /^(\S|Esc|Enter|Space)$/;
  const isOfKeys = (node) => node.closest("dl")?.previousElementSibling?.textContent.startsWith("Keys");

  function keysOf(node) {
    if (node.tagName === "DT") return overlayOf(node) && isOfKeys(node) ? parts(node.textContent) : [];
    return [node.dataset?.key, node.title?.match(/\(([^()]+)\)/)?.[1]].filter((key) => KEY.test(key ?? ""));
  }

  function keys() {
    const listed = new Map();
    for (const node of every()) {
      const said = keysOf(node);
      const root = said.length && [...ancestors(node)].find((at) => at.matches?.("[lang=und]"));
      if (root) listed.set(root.className, [...(listed.get(root.className) ?? []), ...said]);
    }
    return [...listed].map(([place, texts]) => [place, [...new Set(texts)]]);
  }

  const rootOf = (place) => [...every()].find((node) => node.className === place && node.matches("[lang=und]"));

  window.walkControls = {
    found: () => found().map(([node, told]) => [node, { ...told, over: Boolean(overlayOf(node)) }]),
    all: () =>
      found().map(([node, told]) => ({
        ...told,
        value: node.value ?? "",
        options: options(node),
        over: Boolean(overlayOf(node)),
      })),
    get: (wanted) =>
      found().find(([, told]) => Object.entries(wanted).every(([name, value]) => told[name] === value))?.[0] ?? null,
    handle: (node) => handleOf(node),
    isOver: (node) => Boolean(overlayOf(node)),
    isCovered(node) {
      const { x, y, width, height } = handleOf(node).getBoundingClientRect();
      const middle = [x + width / 2, y + height / 2];
      let hit = document.elementFromPoint(...middle);
      while (hit?.shadowRoot) {
        const inner = hit.shadowRoot.elementFromPoint(...middle);
        if (!inner || inner === hit) break;
        hit = inner;
      }
      // Plotly's buttons and its map lie under handles of its own: only what lies over the page covers them.
      if (node.closest("[data-testid=stPlotlyChart], .js-plotly-plot")) return Boolean(hit && overlayOf(hit));
      if (node.closest("[data-testid=stDataFrame]")?.contains(hit)) return false; // a table's cells lie under what scrolls them
      return hit ? ![...ancestors(hit)].includes(handleOf(node)) && ![...ancestors(node)].includes(hit) : false;
    },
    overlays: () => [...every()].filter((node) => node.matches(OVERLAY) && isShown(node)).length,
    // Escape is for what has the focus: here of the components' own panes that lie over the page, the highest one.
    focusOverlay: () =>
      [".menu[open] > summary", ".help", ".numbers"]
        .flatMap((kind) => [...every()].filter((node) => node.matches(kind) && isShown(node)))[0]
        ?.focus({ preventScroll: true }),
    keys,
    keyTarget: (place) => rootOf(place)?.querySelector("canvas[tabindex], [tabindex='0'], button") ?? rootOf(place),
    every: () => [...every()],
  };
})();
