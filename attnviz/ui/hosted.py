"""What a server that many share sets for its pages: a queue for runs, and who may open any model. `make run` sets
neither, and nobody waits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.ui.markdown import literal

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Hosting:
    """`take(address, tell)` waits for the turn of whoever is connected from there, and `tell`s why and for how long;
    `may_open_any(role)` says whether a visitor of that role may open models that are not offered.
    """

    take: Callable[[str, Tell], None]
    may_open_any: Callable[[str], bool]


ROLE = "X-Attnviz-Role"  # the header in which the server says who a visitor is; it lets nobody else's through
_hosting: list[Hosting] = []


def use(hosting: Hosting | None) -> None:
    """Called once by the server, before anybody comes; None for a server that nobody shares."""
    _hosting[:] = [hosting] if hosting else []


def wait(place: DeltaGenerator) -> None:
    """Wait for this visitor's turn, and say in `place` why it takes so long. Raises ValueError, with one sentence,
    where too many wait.
    """
    said: list[DeltaGenerator] = []

    def tell(sentence: str) -> None:
        if not said:
            said.append(place.empty())
        said[0].info(literal(sentence), icon=":material/hourglass_top:")

    for hosting in _hosting:
        hosting.take(st.context.ip_address or "", tell)
    for slot in said:
        slot.empty()


def may_open_any() -> bool:
    """Whether this visitor may open models that the instance does not offer."""
    return any(hosting.may_open_any(role()) for hosting in _hosting)


def role() -> str:
    """Who this visitor is, as the server says; "" where there is no login."""
    return st.context.headers.get(ROLE, "")
