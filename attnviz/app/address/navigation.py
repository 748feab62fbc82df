"""Open another page, or the same one with another address, from a button: the run that follows goes there."""

import streamlit as st

from attnviz.app.address import persistent

_GOES = "_attnviz_goes"
_OTHERWISE = "Lessons"  # for a page that there is not


def send(page: str, query: dict[str, str] | None = None) -> None:
    """To be called by a button: open the page of that title with that address, or as the visitor left it."""
    st.session_state[_GOES] = page, query


def is_going() -> bool:
    """Whether a button has asked for a place that is not open yet."""
    return _GOES in st.session_state


def follow(title: str, paths: dict[str, str]) -> None:
    """Go where a button has asked to. Call after `persistent.begin`; `paths` are the pages' files by their titles."""
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
