"""What the address needs to know of Streamlit that Streamlit does not offer openly: check it when its pin moves.

Streamlit pushes an entry to the browser's history for each `st.query_params` that differs from the address before. On
Back and Forward it runs the page with the address of that entry, and writes over the entry instead of adding one.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def is_back_or_forward() -> bool:
    """Whether this run was asked for by Back or Forward: then the address holds, whatever was chosen since."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


# Streamlit's own script adds an entry where the browser is on another page than the run that it hears from. Where Back
# is pressed again before a run has begun, that run is of a page left behind: the entry would bring it back, with the
# next page's choices in its address. Until something is chosen, only Back and Forward change the page.
_HELD = """<script>
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
</script>"""


def hold() -> None:
    """Keep the page that Back or Forward has led to until the visitor chooses something."""
    st.html(_HELD, unsafe_allow_javascript=True)
