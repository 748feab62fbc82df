"""What the address needs to know of Streamlit that Streamlit does not offer openly: check it when its pin moves.

Streamlit pushes an entry to the browser's history for each `st.query_params` that differs from the address before. On
Back and Forward it runs the page with the address of that entry, and writes over the entry instead of adding one.
"""

from streamlit.runtime.scriptrunner import get_script_run_ctx


def is_back_or_forward() -> bool:
    """Whether this run was asked for by Back or Forward: then the address holds, whatever was chosen since."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation
