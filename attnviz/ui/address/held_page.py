"""Back pressed twice in quick succession leads two pages back."""

import streamlit as st

# Streamlit's own script adds an entry where the browser is on another page than the run that it hears from. Where Back
# is pressed again before a run has begun, that run is of a page left behind: the entry would bring it back, with the
# next page's choices in its address. Until something is chosen, only Back and Forward change the page.
HELD = """
if (!window.attnvizHeld) {
  const push = history.pushState;
  let held = null;
  window.attnvizHeld = true;
  window.addEventListener("popstate", () => (held = location.pathname));
  document.addEventListener("pointerdown", ({ button }) => button < 3 && (held = null), true);
  document.addEventListener("keydown", ({ altKey, metaKey }) => altKey || metaKey || (held = null), true);
  history.pushState = function (state, title, address) {
    if (held === null || new URL(address, location.href).pathname === held) push.call(this, state, title, address);
  };
}
"""


def hold_page() -> None:
    """Keep the page that Back or Forward has led to until the visitor chooses something."""
    st.html(f"<script>{HELD}</script>", unsafe_allow_javascript=True)
