"""Picture of training and decoding side by side: the table of losses on the left, every decoding step on the right."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from attnviz.analysis.next_tokens import NextToken
from attnviz.decoding.decoding import CHOICES, START, WAYS, DecodingInput, DecodingState, run_decoding
from attnviz.decoding.numbers.comparison import Decoded
from attnviz.guards.arguments import reads_arguments
from attnviz.kit.payload import entries_of, told_spans
from attnviz.kit.subject import EVERYTHING, Subject, constant_caption
from attnviz.kit.views import colour
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.spans import move_spans
from attnviz.models import chat
from attnviz.models.decoding_record import DecodingRecord
from attnviz.models.protocol import Model
from attnviz.text.conversation import Turn, read_turns
from attnviz.text.display import display, display_token
from attnviz.text.entries import entries
from attnviz.text.tokens import Span, Token
from attnviz.tracing.causes.intervention import Intervention
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Kind

HYPOTHESES = 6  # maximum hypotheses of a beam shown at each step
FORMAT = 1
BUDGET = 3_000_000  # maximum bytes of maps; above this, only the head in view is sent
_SCALES = ("SEQUENTIAL_LIGHT", "SEQUENTIAL_DARK", "DIVERGING_LIGHT", "DIVERGING_DARK")


@dataclass(frozen=True)
class Training:
    """Data for the training pass on the left of the Stepper: the rows of losses, their mean, and notes."""

    rows: Sequence[Mapping[str, Any]]
    mean: float
    counts: str
    note: str = ""


@dataclass(frozen=True)
class Inference:
    """Data for the right side of the Stepper.

    `candidates` are each step's most probable tokens as `(text, probability, drawn, id, piece)`. `teacher` are the
    target's tokens, with which the choices are compared. `hypotheses` are those of a beam search, `(text,
    log-probability, score, ended, kept)`. `way` says how the steps were made, as pairs of words and the term that
    defines them. `passed` are the attention maps of one pass over the same tokens. `opens` says whether a step can be
    opened on the page Heads. `spans` are the conversation turns among the inputs.
    """

    candidates: Sequence[Sequence[tuple[str, float, float, int, str]]]
    teacher: Sequence[Token] = ()
    hypotheses: Sequence[Sequence[tuple[str, float, float, bool, bool]]] = ()
    way: Sequence[tuple[str, str]] = ()
    passed: Mapping[Kind, Tensor] = field(default_factory=dict)
    opens: bool = True
    spans: Sequence[Span] = ()


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
            f"Label smoothing {state.smoothing:g} is on. The model should give {1 - state.smoothing:g} "
            "of the probability to the label and spread the rest evenly over the whole vocabulary, so "
            "even a perfect prediction has a loss."
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


def stepper_payload(
    training: Training, made: DecodingRecord, inference: Inference, *, view: Mapping[str, Any], budget: int = BUDGET
) -> Payload:
    """Pack the data that the Stepper component draws.

    `view` has step, layer and head ("mean" or a number); invalid values fall back to the first.
    """
    blobs, view = Blobs(), _fit(view, made)
    only = (
        None if sum(4 * maps.numel() for maps in (*made.attn.values(), *inference.passed.values())) <= budget else view
    )
    header: dict[str, Any] = {
        "format": FORMAT,
        "training": {
            "rows": [dict(row) for row in training.rows],
            "mean": training.mean,
            "counts": training.counts,
            "note": training.note,
        },
        "kinds": [
            _kind(*drawn, made, blobs, only) | _spans(drawn[0], inference.spans) for drawn in _maps(made, inference)
        ],
        "steps": [_step(made, inference, index) for index in range(len(made.chosen))],
        "way": [list(part) for part in inference.way],
        "opens": inference.opens,
        "fork": fork_step(made, inference.teacher),
        "colour": {name.lower(): blobs.add(_scale(name)) for name in _SCALES},
    }
    header["id"] = header["base"] = blobs.digest(header)
    return Payload({**header, "view": view}, blobs.join())


def fork_step(made: DecodingRecord, teacher: Sequence[Token]) -> int | None:
    """Return the first step after which the next input differs from the teacher's token; None if there is none.

    For a prompt or a teacher's prefix, the next token goes in regardless of what the model chose.
    """
    pairs = zip((*made.fed[1:], made.chosen[-1]), teacher, strict=False)
    return next((step for step, (own, given) in enumerate(pairs) if own.id != given.id), None)


def _order(made: DecodingRecord) -> list[Kind]:
    """Return the attention kinds, the decoder's first, because steps add rows to them but not to the encoder's map."""
    return sorted(made.attn, key=lambda kind: kind == "encoder_self")


def _maps(made: DecodingRecord, inference: Inference) -> Iterator[tuple[Kind, Tensor, bool]]:
    """Yield the attention maps in the order in which they are drawn: kind, values, and whether they are those of one
    pass.

    For each kind, the map of one pass comes first, then the map of the steps.
    """
    for kind in _order(made):
        if kind in inference.passed:
            yield kind, inference.passed[kind], True
        yield kind, made.attn[kind], False


def _kind(
    kind: Kind, maps: Tensor, is_pass: bool, made: DecodingRecord, blobs: Blobs, only: dict[str, Any] | None
) -> dict[str, Any]:
    words, grows = KINDS[kind], kind != "encoder_self"
    target = [display_token(token) for token in made.fed]
    source = [display_token(token) for token in made.src]
    told, read = (entries_of([[token] for token in tokens]) for tokens in (made.fed, made.src))
    sent = maps if only is None else _one(maps, only)
    return {
        "kind": kind,
        "by": "pass" if is_pass else "steps" if grows else "encoder",
        "title": words.name,
        "question": words.question,
        "query": words.query,
        "key": words.key,
        "shape": list(maps.shape),
        "follows": grows,
        "grows": grows and not is_pass,
        "grows_keys": kind == "decoder_self" and not is_pass,
        "rows": target if grows else source,
        "cols": target if kind == "decoder_self" else source,
        "row_entries": told if grows else read,
        "col_entries": told if kind == "decoder_self" else read,
        "offset": blobs.add(np.ascontiguousarray(sent.numpy(), dtype="<f4")),
        "only": None if only is None else [only["layer"], only["head"]],
    }


def _spans(kind: Kind, spans: Sequence[Span]) -> dict[str, Any]:
    """Return the conversation turns along a kind's rows and columns; {} for a text without turns."""
    told = told_spans(spans)
    along = {"row_spans": told if kind != "encoder_self" else [], "spans": told if kind == "decoder_self" else []}
    return {name: bands for name, bands in along.items() if bands}


def _one(maps: Tensor, view: dict[str, Any]) -> Tensor:
    """Return the attention map `(rows, cols)` in view: that of one head, or a mean over layers or heads.

    If the kind has no such head, the map is zeros, which are not drawn.
    """
    layer, head = view["layer"], view["head"]
    if any(at != "mean" and at >= count for at, count in zip((layer, head), maps.shape, strict=False)):
        return maps.new_zeros(maps.shape[2:])
    maps = maps if layer == "mean" else maps[layer : layer + 1]
    maps = maps if head == "mean" else maps[:, head : head + 1]
    return maps.mean(dim=(0, 1))


def _step(made: DecodingRecord, inference: Inference, index: int) -> dict[str, Any]:
    chosen, following = made.chosen[index], made.following[index]
    given = inference.teacher[index] if index < len(inference.teacher) else None
    # After a different choice, the teacher's token at this position no longer fits.
    same_prefix = [t.id for t in made.fed[1 : index + 1]] == [t.id for t in inference.teacher[:index]]
    return {
        "input": display_token(made.fed[index]),
        "chosen": display_token(chosen),
        "chosen_id": chosen.id,
        "next": None if following.id == chosen.id else display_token(following),
        "entries": [entries([made.fed[index]]), entries([chosen])],
        "row_entries": [entries([made.fed[index]]), entries([following])],
        "teacher": display_token(given) if given is not None and same_prefix else None,
        "agrees": given is not None and given.id == chosen.id,
        "ms": 1e3 * made.seconds[index] if made.seconds else None,
        "top": [list(candidate) for candidate in inference.candidates[index]],
        "beam": [list(kept) for kept in inference.hypotheses[index]] if inference.hypotheses else [],
    }


def _fit(view: Mapping[str, Any], made: DecodingRecord) -> dict[str, Any]:
    layers, heads = (max(maps.shape[axis] for maps in made.attn.values()) for axis in (0, 1))
    step = view.get("step")
    last = len(made.chosen) - 1
    return {
        "step": min(step, last) if isinstance(step, int) and step >= 0 else last,
        "layer": _index(view.get("layer"), layers),
        "head": _index(view.get("head"), heads),
    }


def _index(value: Any, length: int) -> int | str:
    return value if value == "mean" or (isinstance(value, int) and 0 <= value < length) else 0


def _scale(name: str) -> np.ndarray:
    return np.asarray(getattr(colour, name), dtype=np.uint8).reshape(256, 3)


@reads_arguments
def stepper_of(
    model: Model, text: str = "", *, to: str = "", target: str = "", new_tokens: int = 0,
    interventions: Sequence[Intervention] = (), messages: Sequence[Mapping[str, Any] | Turn] = (),
) -> Subject:  # fmt: skip
    """Show the training pass beside every step of decoding `text`, both with `interventions`.

    `messages` are a conversation instead of the text, for a model with a chat template. Raises ValueError for a model
    that writes no text, and for a model with several languages if `to` is missing.
    """
    if len(model.languages) > 1 and not to:
        raise ValueError(f"Say which language is written: to= one of {', '.join(model.languages)}.")
    more = {"to": to, "tgt_text": target, "new_tokens": new_tokens, "interventions": interventions}
    said = {name: value for name, value in more.items() if value}
    turns = read_turns(messages) if messages else ()
    if turns:
        chat.require(model)
        said |= {"messages": [turn.as_message for turn in turns], "new_tokens": chat.reply_tokens(turns, new_tokens)}
    trace = model.trace(text, **said)
    asked = DecodingInput(text, trace.to, new_tokens, turns)

    def draw(state: DecodingState, **how: int) -> Payload:
        return stepper(model, trace, state, run=run_decoding(model, trace, state, asked=asked), **how)

    layers, heads = trace.shape(trace.kinds[-1])
    silent = ("more", "ids_src", "ids_tgt", "ids_seed", "ids_causal")
    bounds, whole = {"layer": layers, "head": heads}, partial(draw, most=EVERYTHING)
    return Subject(DecodingState(), draw, constant_caption(trace, model), bounds, silent, draw_whole=whole, trace=trace)
