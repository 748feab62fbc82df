// Colours for hosts that have none of their own: light and dark, as the app's (.streamlit/config.toml).

const THEMES = {
  light: { background: "#fbfbfd", paper: "#ffffff", ink: "#1a1c25", accent: "#4f46e5" },
  dark: { background: "#0f1218", paper: "#161a22", ink: "#e7e9f0", accent: "#8b81f4" },
};

const SYSTEM = matchMedia("(prefers-color-scheme: dark)");

// What the page around says of itself: JupyterLab, VS Code, Colab; of others the visitor's system.
function nameAround() {
  const { body, documentElement: page } = document;
  const lab = body.dataset.jpThemeLight;
  if (lab) return lab === "true" ? "light" : "dark";
  const said = body.dataset.vscodeThemeKind ?? page.getAttribute("theme");
  if (said) return said.includes("light") ? "light" : "dark"; // VS Code has two of high contrast
  return SYSTEM.matches ? "dark" : "light";
}

// Gives the widgets in `place`, an element around them, the colours of a theme: "light", "dark", or "auto", which follows
// the page. Every widget that is attached looks at its colours again. Returns what ends the following.
export function setTheme(place, name = "auto") {
  const show = () => {
    const theme = THEMES[name] ?? THEMES[nameAround()];
    for (const [what, colour] of Object.entries(theme)) place.style.setProperty(`--avz-${what}`, colour);
    document.dispatchEvent(new Event("attnviz-theme"));
  };
  show();
  if (name !== "auto") return () => {};
  const watcher = new MutationObserver(show);
  const attributeFilter = ["data-jp-theme-light", "data-vscode-theme-kind", "theme"];
  for (const node of [document.documentElement, document.body]) watcher.observe(node, { attributeFilter });
  SYSTEM.addEventListener("change", show);
  return () => {
    watcher.disconnect();
    SYSTEM.removeEventListener("change", show);
  };
}

// As `setTheme`, and on white while the page is printed.
export function setThemeAndPrint(place) {
  let follow = setTheme(place);
  const dress = (name) => {
    follow();
    follow = setTheme(place, name);
  };
  let copies = [];
  window.addEventListener("beforeprint", () => {
    dress("light");
    copies = canvases().map(copied);
  });
  window.addEventListener("afterprint", () => {
    for (const takeAway of copies) takeAway();
    dress("auto");
  });
}

function canvases() {
  const roots = [...document.querySelectorAll("*")].map((node) => node.shadowRoot).filter(Boolean);
  return [document, ...roots].flatMap((root) => [...root.querySelectorAll("canvas")]).filter(({ width }) => width);
}

// Chromium prints a canvas that was drawn anew in the same turn as it was not drawn yet; a new one it prints as it is.
function copied(canvas) {
  const copy = canvas.cloneNode();
  copy.getContext("2d").drawImage(canvas, 0, 0);
  canvas.before(copy);
  canvas.hidden = true;
  return () => {
    copy.remove();
    canvas.hidden = false;
  };
}
