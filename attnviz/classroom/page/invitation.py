"""The invitation to a class: its code, a link, and the link as a QR code."""

import html
from urllib.parse import urlsplit

import segno
import streamlit as st

from attnviz.app.address.navigation import origin
from attnviz.classroom.codes import format_code
from attnviz.classroom.page.seat import CLASS, Seat

_OWN_NAMES = ("localhost", "127.", "0.0.0.0", "[::1]")  # each computer's own names for itself


def link(code: str) -> str:
    """Return the link for students, with the host under which this browser has opened the page."""
    return f"{origin()}/class?{CLASS}={code}"


def secret_link(own: Seat) -> str:
    """Return the teacher's link. Its secret follows a "#", since browsers do not send that part to any server."""
    return f"{link(own.code)}#teach={own.token}"


def reach() -> str:
    """Return a sentence if the link works on this computer only; "" if other computers can follow it."""
    host = urlsplit(origin()).netloc
    if not host.startswith(_OWN_NAMES):
        return ""
    name = host.partition(":")[0] if not host.startswith("[") else "[::1]"
    return f"This link works only on this computer, because {name} always means “this computer”."


def draw(code: str, *, is_large: bool = False) -> None:
    """Draw the code, the address and a QR code; `is_large` for the first screen that the class sees.

    The QR code's link contains the code. The printed address leads to the form that asks for it.
    """
    address = link(code)
    picture = segno.make(address, error="m").svg_data_uri(scale=8, border=3, light="#fff")
    size = "large" if is_large else "small"
    shown = html.escape(address.partition("//")[2].partition("?")[0])
    st.html(
        f"<section class='class-invitation {size}' aria-label='How to join'>"
        f"<img src='{picture}' alt='QR code of {shown}'>"
        f"<div><p>Code</p><strong>{format_code(code)}</strong><p>at</p><span>{shown}</span></div></section>"
    )
    if is_large and (said := reach()):
        st.caption(said)
