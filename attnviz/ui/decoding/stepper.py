"""The upper half of the Decoding page: training on the left, steps on the right, in one component."""

import streamlit as st

from attnviz.analysis.decoding.comparison import Decoded
from attnviz.analysis.decoding.next_tokens import NextToken
from attnviz.models.decoding_record import DecodingRecord
from attnviz.text.display import display, display_token
from attnviz.ui import captions
from attnviz.ui.address import navigation, persistent, share
from attnviz.ui.decoding import run as decoding_run
from attnviz.ui.decoding.controls import COMPONENT, PLACE_SHOWN, adopt
from attnviz.ui.decoding.state import CHOICES, WAYS, DecodingState
from attnviz.ui.mount import stepper
from attnviz.ui.reported import NUMBER, reported
from attnviz.widgets.stepper.payload import Inference, Training, stepper_payload

HYPOTHESES = 6  # of a beam, at each step


def stage(model, request, trace, view: DecodingState, run: Decoded) -> None:
    """Draw the component."""
    model = decoding_run.stepping(model, view)
    payload = stepper_payload(
        _training(run, view), run.made, _inference(run, trace, view, model), view=view.to_payload()
    )
    captions.about(trace, request.entry, written=None if _is_targets(run, trace) else model.decode_ids(run.made.ids)[0])
    st.session_state[PLACE_SHOWN] = {"step": _step(view, run), "layer": view.layer, "head": view.head}
    stepper(captions.on(payload), key=COMPONENT, on_change=adopt, on_open=lambda: _open(model, trace, view, run))
    if navigation.is_going():
        st.rerun()


def _step(view: DecodingState, run: Decoded) -> int:
    """The step that is shown: the last, or what the view asks for where there are as many."""
    last = len(run.made.chosen) - 1
    return last if view.step is None else min(view.step, last)


def _training(run: Decoded, view: DecodingState) -> Training:
    losses = run.losses
    rows = [
        {name: value if value == value else None for name, value in row.items()}  # a number that is not one stays empty
        for row in losses.rows.to_dict("records")
    ]
    note = ""
    if view.smoothing:
        note = (
            f"Label smoothing {view.smoothing:g} is on: the label is to get {1 - view.smoothing:g} of the probability "
            "and the rest is spread evenly over the whole vocabulary, so even a perfect guess has a loss."
        )
    return Training(rows, losses.mean, losses.counts, note)


def _inference(run: Decoded, trace, view: DecodingState, model) -> Inference:
    made = run.made
    candidates = [[_candidate(model, token) for token in step] for step in run.candidates]
    own = [token.id for token in made.chosen]
    hypotheses = [
        [
            (
                model.decode_ids(hypothesis.ids)[0],
                hypothesis.log_probability,
                hypothesis.score(1.0),
                hypothesis.finished,
                list(hypothesis.ids) == own[: len(hypothesis.ids)],
            )
            for hypothesis in kept[:HYPOTHESES]
        ]
        for kept in made.hypotheses
    ]
    return Inference(
        candidates,
        trace.tokens("tgt")[1:],
        hypotheses,
        _way(view, made, _was_cut(model, view, own)),
        run.passed,
        _opens(model, trace, run),
    )


def _candidate(model, token: NextToken) -> tuple[str, float, float, int, str]:
    named = model.decode_ids((token.id,))[1][0]
    return display_token(named), token.probability, token.drawn, token.id, display(named.piece) if named.piece else ""


def _was_cut(model, view: DecodingState, chosen: list[int]) -> bool:
    """Whether a limit that nobody asked for ended it; after a prompt the reader says how many tokens are written."""
    return model.inputs.takes_target and view.way != "teacher" and chosen[-1] not in model.vocabulary.ends


def _way(view: DecodingState, made: DecodingRecord, was_cut: bool) -> list[tuple[str, str]]:
    """How it was decoded, and whether the limit ended it: words, and the term that they stand for."""
    parts = [(WAYS[view.way], WAYS[view.way])]
    if view.way == "cached" and made.recomputes:
        recomputed = WAYS["recomputed"]
        parts = [(f"{recomputed} (positions see ahead: no cache)", recomputed)]
    if view.way == "teacher" and view.choose == "beam":
        parts.append(("a beam would choose its own prefix: greedy here", "Beam"))
    elif view.choose != "greedy":
        parts.append((view.choose, CHOICES[view.choose]))
    if was_cut:
        parts.append((f"cut after {len(made.chosen)} tokens, no <eos>", "cut"))
    return parts


def _opens(model, trace, run: Decoded) -> bool:
    """Whether Heads shows what was stepped through: of a prompt it shows the greedy continuation alone."""
    return model.inputs.takes_target or _is_targets(run, trace)


def _open(model, trace, view: DecodingState, run: Decoded) -> None:
    """The run that follows opens Heads on the sentence that was stepped through, the step's row pinned, on the head in
    view.
    """
    asked = reported(COMPONENT, "open", {"step": NUMBER})
    if asked is None or not _opens(model, trace, run):
        return
    made = run.made
    own = _is_targets(run, trace)
    tgt = "" if not model.inputs.takes_target else share.target(trace) if own else model.decode_ids(made.ids)[0]
    kind = next((kind for kind in ("cross", "decoder_self") if kind in made.attn), "encoder_self")
    row = str(min(max(asked["step"], 0), len(made.chosen) - 1))
    there = {"kind": kind, "row": row, "layer": str(view.layer), "head": str(view.head), "tab": "", "zoom": ""}
    navigation.send("Heads", persistent.way("Heads", there | {"tgt": tgt}))


def _is_targets(run: Decoded, trace) -> bool:
    """Whether the steps wrote the target that the training pass was given."""
    made = run.made
    return tuple(token.id for token in trace.sentences[0].tgt)[: len(made.fed)] == made.ids[: len(made.fed)]
