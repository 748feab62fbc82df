"""The tab Attribute: which components of the model contribute to a token's logit."""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app import captions, layout, mount
from attnviz.app.address import persistent
from attnviz.app.cache import threads
from attnviz.app.cache.pictures import get_or_make
from attnviz.app.progress import work_without_bar
from attnviz.app.request import Request
from attnviz.causes.attribution.attribution import (
    NONE,
    RUNNER_UP,
    AttributeState,
    LogitQuestion,
    attribution,
    question,
    rows,
    site_name,
)
from attnviz.causes.numbers.one_token import name_of
from attnviz.causes.page.one_token import token_list
from attnviz.causes.page.state import keep_shown, new_choices
from attnviz.hosts.registry import PICTURES

if TYPE_CHECKING:
    from attnviz.kit.wire import Payload
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

COMPONENT = "attribution"


def draw(request: Request, loaded: "Model", trace: "Trace") -> AttributeState:
    """Draw the tab Attribute; return its state, which a copied link stores."""
    view = layout.state_in_address(AttributeState, {"step": len(rows(trace))})
    if trace.logits is None:
        layout.refuse("This model has no output over a vocabulary, so there are no logits to split.")
    found = layout.run_or_refuse(lambda: question(loaded, trace, view))
    layout.warn(*found.problems)
    payload = layout.run_or_refuse(lambda: _payload(loaded, trace, view))
    _lists(loaded, trace, view, found)
    keep_shown(COMPONENT, AttributeState, payload)
    site = site_name(loaded, found.asked)
    mount.picture(PICTURES[COMPONENT], captions.add_caption(payload, site=site), on_change=adopt)
    return view


def _payload(loaded: "Model", trace: "Trace", view: AttributeState) -> "Payload":
    with threads.enough_for(max(len(trace.src_text), len(trace.tgt_text))):
        return attribution(loaded, trace, view, cached=get_or_make, work=work_without_bar())


def _lists(loaded: "Model", trace: "Trace", view: AttributeState, found: LogitQuestion) -> None:
    """Draw two selection boxes: the token whose logit is explained, and the token whose logit is subtracted."""
    assert trace.logits is not None  # checked by `draw`
    chances = trace.logits[0, found.asked.row].float().cpu().softmax(dim=-1)
    token, against = found.asked.id, found.asked.against
    known = (*found.likely, *(() if against is None else (against,)))
    names = {f"#{id_}": f"{name_of(loaded, id_)} · {float(chances[id_]):.3f}" for id_ in known}
    options = [f"#{id_}" for id_ in found.likely]
    special = {NONE: "nothing: its own logit", RUNNER_UP: f"the runner-up, {name_of(loaded, found.runner_up)}"}
    with st.container(horizontal=True, vertical_alignment="bottom", key="attribute-tokens"):
        value = view.token if view.token and not view.token.startswith("#") else f"#{token}"
        token_list("token", "Logit of", options, value, names)
        other = f"#{against}" if view.against.startswith("#") and view.against not in special else view.against
        token_list(
            "against", "Minus that of", [*special, *options], NONE if other == "#None" else other, names | special
        )


def adopt() -> None:
    """Write what was chosen in the component into the address. If the step changed, clear the chosen tokens."""
    news = new_choices(COMPONENT, AttributeState)
    if "step" in news:
        against = persistent.text("against")
        news |= {"token": None, "against": against if against == RUNNER_UP else None}
    persistent.write(news)
