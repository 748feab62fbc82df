"""The query of a shared link, and sentences about links that cannot be followed. Imports no Streamlit and no page.

A shared link names its version, the weights and every option, so that it keeps its meaning when a default changes.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlencode

from attnviz.models.catalogue import DEFAULT

if TYPE_CHECKING:
    from attnviz.tracing.trace import Trace

VERSION = "1"
_SITE = ("kind", "layer", "head")  # a lesson's question is about these
_NAMED = 8  # languages that a sentence names


class Linkable(Protocol):
    """State of a page that can be written into a link."""

    def to_params(self) -> dict[str, str]:
        """Return every option as text, by its name in the link."""
        ...


def target(trace: "Trace") -> str:
    """Return the target sentence for a link; "" if decoding stopped at its limit, so that the model writes it again.

    A target in a link gets an `<eos>` at its end. A truncated target would therefore come back with an additional row.
    """
    sentence = trace.sentences[0]
    return "" if sentence.cut else sentence.tgt_text


def shared_query(sentence: Mapping[str, str], view: Linkable | None, weights: str) -> str:
    """Write the query of a link that shows the same picture to its reader."""
    params = {"v": VERSION, "weights": weights, **sentence}
    return urlencode(params | (view.to_params() if view else {}))


def lesson_query(sentence: Mapping[str, str], view: Linkable | None, chosen: Mapping[str, str]) -> str:
    """Write the query of a lesson's step: the head in focus and the `chosen` options, as the page's own address has
    them. Options that are left out keep the page's defaults.
    """
    options = view.to_params() if view else {}
    kept = {name: text for name, text in options.items() if name in _SITE or chosen.get(name)}
    asked = {name: text for name, text in sentence.items() if text and (name, text) != ("model", DEFAULT)}
    return urlencode(asked | kept)


def page_query(view: Linkable) -> str:
    """Write the query of a link to a page whose picture does not depend on the top bar."""
    return urlencode({"v": VERSION} | view.to_params())


def link_problems(params: Mapping[str, str], languages: tuple[str, ...], weights: str) -> tuple[str, ...]:
    """Return a sentence for each problem of a link: another version, other weights, or an unknown language."""
    problems = []
    if (version := params.get("v", VERSION)) != VERSION:
        problems.append(
            f"This link was made for version {version[:10]} of the page, but this is version "
            f"{VERSION}. Some options in the link may therefore be ignored."
        )
    linked = params.get("weights", weights)
    is_comparable = (len(linked), len(weights)) != (12, 16)  # as checkpoints were named by an earlier version, and now
    if linked != weights and is_comparable:
        problems.append(
            f"The model's weights have changed since this link was made (then {linked[:16]}, now {weights}), so the "
            "numbers differ from what the sender saw."
        )
    if languages and (to := params.get("to", languages[0])) not in languages:
        some, more = ", ".join(languages[:_NAMED]), len(languages) - _NAMED
        written = f"{some} and {more} others" if more > 0 else some
        problems.append(f"The link asks for the language “{to[:20]}”, but this model writes {written}.")
    return tuple(problems)


class Together:
    """Several states in one link. A state that the page does not have is None."""

    def __init__(self, *parts: Linkable | None) -> None:
        self._parts = [part for part in parts if part is not None]

    def to_params(self) -> dict[str, str]:
        """Return every option of all states as text, by its name in the link."""
        return {name: text for part in self._parts for name, text in part.to_params().items()}
