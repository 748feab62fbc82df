"""Picture of training and decoding side by side: the table of losses on the left, every decoding step on the right."""

from dataclasses import replace

from attnviz.analysis.next_tokens import NextToken
from attnviz.decoding.decoding import CHOICES, START, WAYS, DecodingState, run_decoding
from attnviz.decoding.numbers.comparison import Decoded
from attnviz.decoding.payload import BUDGET, Inference, Training, stepper_payload
from attnviz.kit.wire import Payload
from attnviz.maps.spans import move_spans
from attnviz.models.decoding_record import DecodingRecord
from attnviz.models.protocol import Model
from attnviz.text.display import display, display_token
from attnviz.text.spans import Span
from attnviz.tracing.trace import Trace

HYPOTHESES = 6  # maximum hypotheses of a beam shown at each step


def stepper(
    model: Model, trace: Trace, state: DecodingState = START, *, run: Decoded | None = None, most: int = BUDGET
) -> Payload:
    """Return the picture of a run's training pass beside its decoding.

    `run` comes from `run_decoding`, which is called if it is omitted. If all maps take at most `most` bytes, all are
    sent at once; otherwise only those of the head in focus. Raise ValueError with a message of one sentence for a model
    that writes no text.
    """
    run = run or run_decoding(model, trace, state)
    view = {"step": state.step, "layer": state.layer, "head": state.head}
    return stepper_payload(_training_table(run, state), run.made, _inference(model, trace, state, run), view=view,
                           budget=most)  # fmt: skip


def can_open_heads(model: Model, trace: Trace, run: Decoded) -> bool:
    """Return whether the page Heads can show the decoded sentence; for a prompt it shows only the greedy
    continuation.
    """
    return model.inputs.takes_target or is_target(run, trace)


def is_target(run: Decoded, trace: Trace) -> bool:
    """Return whether the steps wrote the same target that the training pass was given."""
    made = run.made
    return tuple(token.id for token in trace.sentences[0].tgt)[: len(made.fed)] == made.ids[: len(made.fed)]


def _training_table(run: Decoded, state: DecodingState) -> Training:
    losses = run.losses
    rows = [
        {name: value if value == value else None for name, value in row.items()}  # NaN becomes None
        for row in losses.rows.to_dict("records")
    ]
    note = ""
    if state.smoothing:
        note = (
            f"Label smoothing {state.smoothing:g} is on: the label should get {1 - state.smoothing:g} of the "
            "probability and the rest is spread evenly over the whole vocabulary, so even a perfect guess has a loss."
        )
    return Training(rows, losses.mean, losses.counts, note)


def _inference(model: Model, trace: Trace, state: DecodingState, run: Decoded) -> Inference:
    made = run.made
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
        [[_candidate(model, token) for token in step] for step in run.candidates],
        trace.tokens("tgt")[1:],
        hypotheses,
        _way(state, made, _was_cut(model, state, own), has_cache=getattr(model, "has_cache", True)),
        run.passed,
        can_open_heads(model, trace, run),
        _spans_of(trace, len(made.fed)),
    )


def _spans_of(trace: Trace, length: int) -> tuple[Span, ...]:
    """Return the conversation turns among the input tokens; the last turn extends over the tokens written so far."""
    sentence = trace.sentences[0]
    spans = sentence.spans
    if spans and spans[-1].end == len(sentence.tgt):
        spans = (*spans[:-1], replace(spans[-1], end=max(spans[-1].end, length)))
    return move_spans(spans, 0, length)


def _candidate(model: Model, token: NextToken) -> tuple[str, float, float, int, str]:
    named = model.decode_ids((token.id,))[1][0]
    return display_token(named), token.probability, token.drawn, token.id, display(named.piece) if named.piece else ""


def _was_cut(model: Model, state: DecodingState, chosen: list[int]) -> bool:
    """Return whether our length limit ended the text. For a prompt the visitor sets the limit, so it does not count."""
    return model.inputs.takes_target and state.way != "teacher" and chosen[-1] not in model.vocabulary.ends


def _way(state: DecodingState, made: DecodingRecord, was_cut: bool, *, has_cache: bool) -> list[tuple[str, str]]:
    """Describe how the text was decoded and whether a limit ended it, as pairs of words and the term that
    defines them.
    """
    parts = [(WAYS[state.way], WAYS[state.way])]
    if state.way == "cached" and made.recomputes:
        recomputed = WAYS["recomputed"]
        why = "positions see ahead: no cache" if has_cache else "this model has no cache to step on"
        parts = [(f"{recomputed} ({why})", recomputed)]
    if state.way == "teacher" and state.choose == "beam":
        parts.append(("a beam would choose its own prefix: greedy here", "Beam"))
    elif state.choose != "greedy":
        parts.append((state.choose, CHOICES[state.choose]))
    if was_cut:
        parts.append((f"cut after {len(made.chosen)} tokens, no <eos>", "cut"))
    return parts
