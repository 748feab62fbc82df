"""The script for a page that has lost its server: it shows a message, leads to the login, and keeps typed text."""

# What runs in the browser, once for each load of a page; the server's policy allows this text alone.
#
# Streamlit asks for its server until it is back, and meanwhile shows a dialog, with words that blame the visitor's
# network or name a command. Its words are hidden and ours stand in their place: what React has drawn is not changed.
#
# If the server does not answer a message within three seconds, and its health check cannot be reached either, a line
# says that there is no connection, until the server answers again. The line also appears after three seconds without a
# connection.
#
# Where the login of before no longer counts, the server answers 401 for good; a page that is opened anew is led to the
# login and, after it, back to the same address. So the page reloads itself, but never twice in ten seconds.
#
# A new server knows nothing of what was typed and not entered, and a page that is drawn anew has its fields empty:
# each gets its text again, and the focus. Leaving it then enters the text, as if it had just been typed.
SCRIPT = """
if (!window.attnvizReconnects) {
  const KEPT = "attnviz-typed", SOON = 10000, ASK = 2000, LOOK = 200, LOOKS = 150;
  const WAIT = 1000, PATIENCE = 2000;
  const NONE = "No connection; what you typed is kept. This page goes on by itself.";
  const AWAY = "The server is starting again. This page comes back by itself.";
  const OFFLINE = "This device has no network. This page comes back by itself.";
  const FIELDS = "input[type=text]:not([role=combobox]), input[type=number], textarea";
  const app = document.querySelector("[data-testid='stApp']");
  const isConnected = () => app.dataset.testConnectionState === "CONNECTED";
  window.attnvizReconnects = true;

  const say = () => {
    const titles = [...document.querySelectorAll("[role=dialog] h2")];
    const title = titles.find(({ textContent }) => textContent === "Connection error");
    if (!title) return;
    const theirs = title.nextElementSibling, isFirst = !theirs.matches(".attnviz-away");
    const ours = isFirst ? document.createElement("p") : theirs;
    const said = navigator.onLine ? AWAY : OFFLINE;
    if (ours.textContent !== said) ours.textContent = said;
    if (!isFirst) return;
    ours.className = `attnviz-away ${theirs.className}`;
    ours.setAttribute("role", "status");
    theirs.style.display = "none";
    title.style.display = "none";
    const heading = document.createElement("h2");
    heading.textContent = "No connection";
    const dialog = title.closest("[role=dialog]");
    dialog.removeAttribute("aria-labelledby");
    dialog.setAttribute("aria-label", heading.textContent);
    title.before(heading);
    title.after(ours);
  };

  const line = document.createElement("p");
  line.className = "attnviz-offline";
  line.setAttribute("role", "status");
  document.body.append(line);
  let unheard = 0, lost = 0;
  const tellLine = (isOff) => {
    const text = isOff && !document.querySelector(".attnviz-away") ? NONE : "";
    if (line.textContent !== text) line.textContent = text;
  };
  const isReached = () =>
    fetch("_stcore/health", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) }).then(() => true, () => false);
  const askWhy = async () => {
    const isOff = !(await isReached());
    if (!unheard) return;
    tellLine(isOff);
    unheard = setTimeout(askWhy, WAIT);
  };
  document.addEventListener("attnviz-sent", () => (unheard ||= setTimeout(askWhy, WAIT)));
  document.addEventListener("attnviz-heard", () => {
    clearTimeout(unheard);
    unheard = 0;
    tellLine(false);
  });

  const nameOf = (field) => /st-key-\\S+/.exec(field.closest(".stElementContainer")?.className ?? "")?.[0];
  const fieldOf = (name) => document.querySelector(`.stElementContainer.${CSS.escape(name)}`)?.querySelector(FIELDS);
  const touched = new Set();
  let kept = { at: "", when: 0, texts: {} }, looks = 0, looking = 0, asking = 0;
  document.addEventListener("input", ({ target, isTrusted }) => {
    const name = isTrusted && target.matches(FIELDS) && nameOf(target);
    if (!name) return;
    touched.add(name);
    delete kept.texts[name];
  }, true);
  const keep = () => {
    const fields = [...touched].map((name) => [name, fieldOf(name)?.value]);
    const here = kept.at === location.href ? kept.texts : {};
    const texts = { ...here, ...Object.fromEntries(fields.filter(([, text]) => text !== undefined)) };
    kept = { at: location.href, when: kept.when, texts };
  };
  const giveBack = () => {
    const isOver = location.href !== kept.at || --looks < 0;
    if (isOver) kept.texts = {};
    for (const [name, text] of Object.entries(kept.texts)) {
      const field = fieldOf(name);
      if (!field || field.disabled || field.value === text) continue;
      field.focus();
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value").set.call(field, text);
      field.dispatchEvent(new Event("input", { bubbles: true }));
      touched.add(name);
      delete kept.texts[name];
    }
    if (!Object.keys(kept.texts).length) clearInterval(looking);
  };

  const ask = async () => {
    say();
    const answer = await fetch("_stcore/health", { cache: "no-store" }).catch(() => null);
    if (answer?.status !== 401 || isConnected() || Date.now() - kept.when < SOON) return;
    clearInterval(asking);
    kept.when = Date.now();
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(kept));
    } catch {
      // a browser may refuse storage: the login is worth more than what was typed
    }
    location.reload();
  };

  const dialogs = new MutationObserver(say);
  const follow = () => {
    clearInterval(looking);
    clearInterval(asking);
    clearTimeout(lost);
    if (isConnected()) {
      tellLine(false);
      dialogs.disconnect();
      [looks, looking] = [LOOKS, setInterval(giveBack, LOOK)];
    } else {
      keep();
      lost = setTimeout(() => tellLine(true), WAIT + PATIENCE);
      dialogs.observe(document.body, { childList: true, subtree: true });
      asking = setInterval(ask, ASK);
    }
  };
  new MutationObserver(follow).observe(app, { attributeFilter: ["data-test-connection-state"] });
  try {
    kept = JSON.parse(sessionStorage.getItem(KEPT)) ?? kept;
    sessionStorage.removeItem(KEPT);
  } catch {
    // nothing is kept
  }
  follow();
}
"""
