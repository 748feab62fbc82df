"""Let a button open another page, or the same page with another address. The next run goes there."""

from urllib.parse import urlsplit

import streamlit as st

from attnviz.app.address import persistent

_GOES = "_attnviz_goes"
_OTHERWISE = "Lessons"  # for a page that there is not


def send(page: str, query: dict[str, str] | None = None) -> None:
    """Open the page with this title in the next run: with the address `query`, or as the visitor left the page.

    Buttons call this in their callbacks.
    """
    st.session_state[_GOES] = page, query


def is_going() -> bool:
    """Whether a button has asked for a page or an address that the next run will open."""
    return _GOES in st.session_state


def follow(title: str, paths: dict[str, str]) -> None:
    """Go to the page that a button asked for. Call this after `persistent.begin`; `paths` maps titles to page files."""
    goes = st.session_state.pop(_GOES, None)
    if goes is None:
        return
    page, asked = goes
    query = persistent.address(page) if asked is None else asked | persistent.window()
    if page == title:
        persistent.follow(query)
    else:
        persistent.expect_link(query)
        st.switch_page(paths.get(page, paths[_OTHERWISE]), query_params=query)


def origin() -> str:
    """Return the address under which the visitor's browser has opened this server, without a slash at its end."""
    parts = urlsplit(st.context.url or "http://localhost")
    path = parts.path.rpartition("/")[0].rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}"
