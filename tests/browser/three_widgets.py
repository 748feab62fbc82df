"""A page with three widgets of two kinds: one widget twice, so that two places wait for one script, and another."""

import streamlit as st

from attnviz.ui.mount import heads, links
from attnviz.widgets.heads.payload import heads_payload
from attnviz.widgets.links.payload import links_payload
from tests.widgets.heads.heads_app import START, maps, metrics, strip


def _do_nothing() -> None:
    """Nobody asks what is chosen here."""


def main() -> None:
    st.set_page_config(layout="wide")
    n = st.number_input("tokens", 4, 40, 6)
    shown = maps(int(n))
    payload = heads_payload(shown, metrics(shown), view=START, strip=strip(shown))
    view = {"kind": "cross", "heads": [[0, 0]], "token": None, "scale": "fixed", "rows": "read"}
    heads(payload, key="first")
    heads(payload, key="second")
    links(links_payload([shown["cross"]], list(shown), view=view), on_change=_do_nothing)


if __name__ == "__main__":
    main()
