"""A page with three widgets of two kinds: one widget twice, so that two places wait for one script, and another."""

import streamlit as st

from attnviz.app import mount
from attnviz.heads.heads_state import HeadsState
from attnviz.heads.links.links import LinksState, links_payload
from attnviz.heads.payload import heads_payload
from attnviz.hosts.registry import picture
from attnviz.kit.browser_view import add_view, with_declaration
from tests.heads.component.heads_app import START, maps, metrics, strip


def _do_nothing() -> None:
    """Do nothing with a choice."""


def main() -> None:
    st.set_page_config(layout="wide")
    n = st.number_input("tokens", 4, 40, 6)
    shown = maps(int(n))
    payload = with_declaration(heads_payload(shown, metrics(shown), view=START, strip=strip(shown)), HeadsState)
    for key in ("first", "second"):
        mount.picture(picture("heads"), payload, key=key, on_change=_do_nothing)
    made = links_payload(shown["cross"], list(shown), view={})
    mount.picture(picture("links"), add_view(made, LinksState()), on_change=_do_nothing)


if __name__ == "__main__":
    main()
