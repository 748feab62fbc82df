"""Scripts that each load of a page runs in the browser.

They make Back pressed twice lead two pages back, and send a choice again that the visitor made while the server was
restarting.
"""

import streamlit as st

from attnviz.app.address import reconnecting

# What runs in the browser, once for each load of a page; the server's policy allows this text alone.
#
# Streamlit's own script adds an entry where the browser is on another page than the run that it hears from. Where Back
# is pressed again before a run has begun, that run is of a page left behind: the entry would bring it back, with the
# next page's choices in its address. Until something is chosen, only Back and Forward change the page.
#
# If a visitor chooses something and presses Back before the server has answered the choice, the answer would write the
# choice over the entry that Back has led to. So it is ignored: after Back, a run writes only parameters of the window.
#
# `st.switch_page` adds two entries: the page that it leaves, with what the next page's address says, and the next page.
# The second takes the place of the first: Back then leads to the page as it was left.
#
# A page in another site's frame adds no entry: that site shares the browser's history.
#
# That a lesson's panel has a window of its own (`beside`) is no step of Back: the entry that is there says so.
#
# Streamlit does not send a choice again that was sent when the server died, unless it had heard that a run had begun.
# So this script presses Streamlit's key for a new run, R, if nothing was heard since the choice, or if the choice was
# sent just before the server died.
#
# A new server drops a choice in a fragment until it has imported attnviz.app.streamlit_internals, and sends no answer.
# So R is also pressed once if the first choice after a lost connection is not answered within three seconds.
#
# The menu's links follow the address (attnviz/app/widgets/rail): they hear of each change of it.
#
# While there is no connection, Streamlit disables its fields, so that Enter goes nowhere. The field that was typed into
# loses the focus, after a while to Streamlit's dialog about the connection. Once the field is enabled again, this
# script focuses it and presses Enter, but only in lines of text: in a list, Enter would choose.
SCRIPT = """
if (!window.attnvizHeld) {
  const { pushState: push, replaceState: replace } = history;
  const apart = (search) => {
    const said = new URLSearchParams(search), beside = said.get("beside");
    said.delete("beside");
    said.sort();
    return [beside, said.toString()];
  };
  const isOfWindow = (search) => {
    const [[before, rest], [after, same]] = [apart(location.search), apart(search)];
    return before !== after && rest === same;
  };
  let held = null, told = null;
  window.attnvizHeld = true;
  const chosen = (isChoice) => ([held, told] = [isChoice ? null : held, null]);
  window.addEventListener("popstate", () => ([held, told] = [location.pathname, null]));
  document.addEventListener("pointerdown", ({ button }) => chosen(button < 3), true);
  document.addEventListener("keydown", ({ altKey, metaKey }) => chosen(!altKey && !metaKey), true);
  history.pushState = function (state, title, address) {
    const { pathname, search } = new URL(address, location.href);
    if (held !== null && pathname !== held) return;
    const isHere = pathname === location.pathname;
    const isEntry = isHere ? isOfWindow(search) : search === told;
    const add = isEntry || parent !== window ? replace : push;
    told = isHere ? search : null;
    add.call(this, state, title, address);
    document.dispatchEvent(new Event("attnviz-address"));
  };
  history.replaceState = function (state, title, address) {
    const { pathname, search } = new URL(address ?? "", location.href);
    const isNews = held !== null && (pathname !== location.pathname || search !== location.search);
    if (isNews && !isOfWindow(search)) return;
    replace.call(this, state, title, address);
    document.dispatchEvent(new Event("attnviz-address"));
  };

  const send = WebSocket.prototype.send, sockets = new WeakSet();
  let asked = null, isHeard = true, isLost = false, isBack = false;
  WebSocket.prototype.send = function (message) {
    send.call(this, message);
    [asked, isHeard, isLost] = [performance.now(), false, false];
    if (isBack) setTimeout(() => isBack && runAgain(), 3000);
    document.dispatchEvent(new Event("attnviz-sent"));
    if (sockets.has(this)) return;
    sockets.add(this);
    this.addEventListener("message", () => {
      [isHeard, isBack] = [true, false];
      document.dispatchEvent(new Event("attnviz-heard"));
    });
    this.addEventListener("close", () => (isLost = asked !== null && (!isHeard || performance.now() - asked < 1000)));
  };
  const app = document.querySelector("[data-testid='stApp']");
  const isConnected = () => app.dataset.testConnectionState === "CONNECTED";
  const press = (on, kind, key) => on.dispatchEvent(new KeyboardEvent(kind, { key, bubbles: true }));
  const line = (target) => (target.matches("input[type=text]:not([role=combobox])") ? target : null);
  let field = null, isEntered = false;
  document.addEventListener("focusin", ({ target }) => isConnected() && (field = line(target)), true);
  document.addEventListener("focusout", ({ target }) => target === field && !target.disabled && (field = null), true);
  document.addEventListener("keydown", ({ key, target }) => {
    isEntered ||= key === "Enter" && field?.disabled && !target.closest("[role=dialog]");
  }, true);
  const runAgain = () => {
    isBack = false;
    press(document, "keyup", "r");
    press(document, "keydown", "r");
  };
  const enterAgain = () => {
    const isHere = document.activeElement === document.body && field?.isConnected;
    if (isHere && field.disabled) return isConnected() && setTimeout(enterAgain, 100);
    if (isHere) field.focus();
    if (isHere && isEntered) press(field, "keydown", "Enter");
    isEntered = false;
  };
  const goOn = () => {
    enterAgain();
    isBack = !isLost;
    if (isLost) runAgain();
  };
  new MutationObserver(() => isConnected() && setTimeout(goOn, 100)).observe(app, {
    attributeFilter: ["data-test-connection-state"],
  });
}
"""
SCRIPTS = (SCRIPT, reconnecting.SCRIPT)


def watch_browser() -> None:
    """Add the scripts that watch Back and Forward, and that keep choices and typed text during a lost connection."""
    st.html("".join(f"<script>{script}</script>" for script in SCRIPTS), unsafe_allow_javascript=True)
