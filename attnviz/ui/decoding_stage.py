"""The upper half of the Decoding page: training on the left, steps on the right, in one component."""

import streamlit as st

from attnviz.ui import decoding_run
from attnviz.ui.components.stepper import stepper
from attnviz.ui.decoding_controls import COMPONENT, adopt
from attnviz.ui.decoding_link import WAYS, DecodingView
from attnviz.ui.decoding_run import Decoded
from attnviz.views.stepper_payload import Inference, Training, stepper_payload

HYPOTHESES = 6  # of a beam, at each step


def stage(request, trace, view: DecodingView, run: Decoded) -> None:
    """Draw the component; "Open in Heads" leaves for that page with the step's row pinned."""
    model = decoding_run.translator(request, view)
    payload = stepper_payload(
        _training(run, view), run.made, _inference(run, trace, view, model), view=view.to_payload()
    )
    stepper(payload, key=COMPONENT, on_change=adopt, on_open=_remember_step)
    if step := st.session_state.pop("open-in-heads", None):
        _open_in_heads(request, trace, run, step)


def _training(run: Decoded, view: DecodingView) -> Training:
    losses = run.losses
    rows = [
        {name: value if value == value else None for name, value in row.items()}  # a number that is not one stays empty
        for row in losses.rows.to_dict("records")
    ]
    note = ""
    if view.smoothing:
        note = (
            f"Label smoothing {view.smoothing:g} is on: the label is to get {1 - view.smoothing:g} of the probability "
            "and the rest is spread evenly over the whole vocabulary, so that even a perfect guess costs."
        )
    return Training(rows, losses.mean, losses.counts, note)


def _inference(run: Decoded, trace, view: DecodingView, model) -> Inference:
    made = run.made
    candidates = [
        [(decoding_run.name(model, token.id), token.probability, token.drawn, token.id) for token in step]
        for step in run.candidates
    ]
    own = [token.id for token in made.chosen]
    hypotheses = [
        [
            (
                model.codec.text(hypothesis.ids),
                hypothesis.log_probability,
                hypothesis.score(1.0),
                hypothesis.ended,
                list(hypothesis.ids) == own[: len(hypothesis.ids)],
            )
            for hypothesis in kept[:HYPOTHESES]
        ]
        for kept in made.hypotheses
    ]
    way = WAYS[view.way] + ("" if view.choose == "greedy" else f" · {view.choose}")
    return Inference(candidates, trace.tokens("tgt")[1:], hypotheses, way)


def _remember_step() -> None:
    opened = (st.session_state.get(COMPONENT) or {}).get("open")
    if opened:
        st.session_state["open-in-heads"] = opened


def _open_in_heads(request, trace, run: Decoded, step: dict) -> None:
    """The Heads page on the sentence that was stepped through, this step's row pinned, on the head that was in view."""
    made = run.made
    own = tuple(token.id for token in trace.tokens("tgt"))[: len(made.fed)] == made.ids[: len(made.fed)]
    tgt = trace.tgt_text if own else session_text(request, made)
    kind: str = "cross" if "cross" in made.attn else next(iter(made.attn))
    params = request.to_params() | {"tgt": tgt, "kind": kind, "row": str(step["step"])}
    st.switch_page("pages/heads.py", query_params=params | {name: str(step[name]) for name in ("layer", "head")})


def session_text(request, made) -> str:
    """The sentence that was decoded."""
    return decoding_run.session.model(request.entry.name).codec.text(made.ids)
