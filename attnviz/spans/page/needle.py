"""The needle-in-a-haystack experiment on the open model: which of twelve sentences does the answer come from?"""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.markdown import literal
from attnviz.app.progress import run_cancellable
from attnviz.app.request import Request
from attnviz.models.protocol import Model

if TYPE_CHECKING:
    from attnviz.analysis.cancellable import Cancellable
    from attnviz.spans.numbers.needle import NeedleCount

_KEY, _COUNTED = "needle", "needle-counted"
_TITLE = "**A needle in a haystack.** Which of twelve sentences did the answer come from?"
_ABOUT = (
    "One of twelve sentences contains the answer to a question. The experiment puts this sentence at "
    "each of the twelve places in turn. It then hides each sentence from all later tokens, and shows "
    "how much log-probability the answer loses, beside the attention that the sentence had.\n\n**What "
    "it teaches.** The sentence with most attention may not be the sentence that the answer "
    "needs.\n\n**What it does not show.** It asks one question in plain words; another prompt may "
    "give another result."
)


def panel(request: Request, model: Model) -> None:
    """Draw the experiment in a closed expander for a decoder that writes text; draw nothing for other models."""
    if not model.inputs.is_prompt or not getattr(model, "writes", False):
        return
    with st.expander(_TITLE, key="needle-panel"):
        st.markdown(_ABOUT)
        asked = (request.entry.name, model.model_id)
        if st.button("Count", key="needle-count"):
            st.session_state[_COUNTED] = (asked, None)
        wanted, counted = st.session_state.get(_COUNTED, (None, None))
        if wanted != asked:
            return
        if counted is None:
            counted = _count(asked, model)
        if counted is not None:
            st.session_state[_COUNTED] = (asked, counted)
            st.markdown(counted.sentence())
            st.dataframe(counted.table, hide_index=True)


def _count(asked: tuple[str, str], model: Model) -> "NeedleCount | None":
    from attnviz.spans.numbers.needle import count_needles

    def make(work: "Cancellable") -> "NeedleCount":
        return count_needles(model, work=work)

    try:
        return run_cancellable(_KEY, asked, "The count", make)
    except ValueError as refusal:
        st.error(literal(str(refusal)))
        return None
