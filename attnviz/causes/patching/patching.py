"""Picture of patching between two runs: the matrices of one step, and the result of jointly patched cells."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.causes.numbers.one_token import id_of, name_of
from attnviz.causes.numbers.pair import LogitDifference, Pair, pair_of, written_under
from attnviz.causes.numbers.patching import (
    Cell,
    JointPatches,
    Matrices,
    PatchedStream,
    Restored,
    matrices,
    patch_jointly,
)
from attnviz.guards.arguments import reads_arguments
from attnviz.kit.caching import Cache, make_anew
from attnviz.kit.fields import PageState, Say, choice, declare, text, whole_number
from attnviz.kit.payload import common_header, payload_of, told_spans
from attnviz.kit.subject import Subject, caption_by
from attnviz.kit.views.captions import Caption
from attnviz.kit.views.labels import KINDS
from attnviz.kit.wire import Blobs, Payload
from attnviz.maps.spans import move_spans
from attnviz.models.protocol import Model
from attnviz.text.difference import word_differences
from attnviz.text.display import display, display_token
from attnviz.text.entries import entries
from attnviz.text.limits import MAX_CHARACTERS
from attnviz.text.tokens import Token
from attnviz.tracing.trace import Trace
from attnviz.transformer.probe import Stack

MOST_CELLS = 200
_MOST_TOKEN = 200
MEASURED, OUTSIDE, ALONE, LEFT_OUT = range(4)
_MOST_TEXT = 4_000  # maximum characters of a text
_MOST_SOURCE = 160
_STACKS = {
    "encoder": "encoder: the residual, token by token",
    "decoder": "decoder: the residual, token by token",
}


def _cells(asked: str, bound: object, default: tuple[str, ...], say: Say) -> tuple[str, ...]:
    """Parse the cells of the patching matrices that a link selects, written like `cross.1.3~encoder.e.4`."""
    parts = dict.fromkeys(asked.split("~")[:MOST_CELLS])
    if bad := [part for part in parts if Cell.parse(part) is None]:
        say("a cell is a kind, a layer and a head, or a stack, a layer and a position, such as cross.1.3",
            "without that cell", bad[0])  # fmt: skip
    return tuple(part for part in parts if part not in bad)


@dataclass(frozen=True)
class PatchState(PageState):
    """State of the tab Patch.

    `changed` is the second sentence. `way` is "in" if the clean run's activations are put into the changed run, and
    "out" for the other direction. `step` is the row of the metric (None: where the runs differ most). `a` and `b` are
    the tokens of the metric and `c` and `d` those of the control: typed, or `#` and an id; "" for the suggested tokens.
    `put` are the cells that are patched together.
    """

    changed: str = text(limit=MAX_CHARACTERS)
    way: str = choice("in", ("in", "out"))
    step: int | None = whole_number(used="where the runs differ most")
    a: str = text(limit=_MOST_TOKEN)
    b: str = text(limit=_MOST_TOKEN)
    c: str = text(limit=_MOST_TOKEN)
    d: str = text(limit=_MOST_TOKEN)
    put: tuple[str, ...] = declare((), _cells, lambda cells: "~".join(map(str, cells)), shape=[str])


_START = PatchState()


@dataclass(frozen=True, eq=False)
class PatchQuestion:
    """What a state asks about two runs.

    `pair` has the two runs in the direction of the patch, `step` is a row of its first run, and `metric` and `control`
    are the logit differences to measure. `problems` are messages about tokens that could not be used and were replaced
    by suggestions.
    """

    pair: Pair
    step: int
    metric: LogitDifference
    control: LogitDifference
    problems: tuple[str, ...] = ()


def patching(
    model: Model,
    base: Pair,
    state: PatchState = _START,
    *,
    found: Matrices | None = None,
    cached: Cache = make_anew,
    work: Cancellable = TO_THE_END,
) -> Payload:
    """Return the patching matrices of one step, and the result of patching the cells `state.put` together.

    `found` are the matrices of `patch_question(model, base, state)`, computed here if omitted. `work` receives the
    progress of writing the patched text.
    """
    asked = patch_question(model, base, state)
    pair = asked.pair
    found = found or matrices(model, pair, asked.metric, asked.control)
    put, result, before = known_cells(found, state.put), None, ""
    if put and found.ends.is_drawn:
        cells = [cell for each in put if (cell := Cell.parse(each)) is not None]
        result = cached(
            "patched cells",
            (pair.clean, pair.changed, found.metric, found.control, put),
            lambda: patch_jointly(model, pair, found.metric, cells, found.control, tell=work.tell),
        )
        before = cached("written", (pair.changed,), lambda: written_under(model, pair.changed, tell=work.tell))
    turned = state.way == "out"
    steps = [
        (step, base.rows[step] if turned else step, float(apart))
        for step, apart in zip(base.rows, base.differences, strict=True)
    ]
    shown = ShownPair(pair, asked.step, steps, found, partial(name_of, model), result, before)
    return patching_payload(model, shown, done=put, view={"step": asked.step, "put": list(put)})


def patch_question(model: Model, base: Pair, state: PatchState = _START) -> PatchQuestion:
    """Find the step, the metric and the control that `state` asks for; values left open are suggested by the runs."""
    problems = list[str]()
    step = state.step if state.step in base.rows else base.most_different
    metric = _lead(model, base, step, (state.a, state.b), problems) or base.metric(step)
    own = (state.c, state.d) if state.c and state.d else None
    control = (_lead(model, base, step, own, problems) if own else None) or base.control(step, metric)
    if {control.a, control.b} == {metric.a, metric.b}:
        problems.append("The control pair is the metric itself. Choose two other tokens that should not move.")
        control = base.control(step, metric)
    pair, row = (base.reverse(), base.rows[step]) if state.way == "out" else (base, step)
    metric, control = (pair.changed_metric(row, each.a, each.b) for each in (metric, control))
    return PatchQuestion(pair, step, metric, control, tuple(problems))


def site_name(model: Model, asked: PatchQuestion) -> str:
    """Return the words that name the patched runs and the measured logit difference in captions."""
    texts = [trace.src_text or trace.tgt_text for trace in (asked.pair.clean, asked.pair.changed)]
    a, b = (name_of(model, id_) for id_ in (asked.metric.a, asked.metric.b))
    return f"patched from “{texts[0][:120]}” into “{texts[1][:120]}”, {a} − {b} at step {asked.step}"


def _lead(model: Model, pair: Pair, step: int, asked: tuple[str, str], problems: list[str]) -> LogitDifference | None:
    """Return the metric for two typed tokens; None, with a message added to `problems`, if a token is invalid."""
    try:
        return pair.metric(step, *(id_of(model, pair.clean, each) for each in asked))
    except ValueError as error:
        problems.append(str(error))
        return None


def known_cells(found: Matrices, put: Sequence[str]) -> tuple[str, ...]:
    """Return the cells in `put` that the matrices contain, or all of them if no shares are drawn."""
    if not found.ends.is_drawn:
        return tuple(put)
    places = {str(Cell(*place)) for place in found.heads.places}
    for stream in found.streams:
        assert stream.alone is not None  # always set by `patched_stream`
        places |= {
            str(Cell(stream.stack, layer - 1, at))
            for layer in range(len(stream.patched))
            for at in range(len(stream.tokens))
            if not stream.alone[at]
        }
    return tuple(cell for cell in put if cell in places)


@dataclass(frozen=True, eq=False)
class ShownPair:
    """Everything that the Patch tab draws: two runs in the chosen direction, and the matrices of `step`.

    `steps` are the rows to choose from: row number, row of `pair.clean`, and distance between the two predictions.
    `names` returns the text of a token id. `result` is the effect of the jointly patched cells, and `before` the text
    that the model writes without them.
    """

    pair: Pair
    step: int
    steps: Sequence[tuple[int, int, float]]
    matrices: Matrices
    names: Callable[[int], str]
    result: JointPatches | None = None
    before: str = ""


def patching_payload(model: Model, shown: ShownPair, *, done: Sequence[str], view: dict[str, Any]) -> Payload:
    """Pack the data that the Patch widget draws. `done` are the cells that `shown.result` patches together."""
    blobs, found = Blobs(), shown.matrices
    header = common_header(model.kinds[0], model.kinds, blobs) | {
        "from": _source(shown.pair.clean),
        "into": _source(shown.pair.changed),
        "step": shown.step,
        "steps": [_step(shown.pair, *step) for step in shown.steps],
        "metric": _measure(shown, found.metric, found.ends.clean, found.ends.changed),
        "control": _measure(
            shown,
            found.control,
            found.control.value_in_clean(shown.pair.clean),
            found.control.value(shown.pair.changed),
        ),
        "why_not": found.ends.why_not,
        "matrices": _matrices(model, shown, blobs) if found.ends.is_drawn else [],
        "done": [[each, _name(shown.pair, each)] for each in done],
        "result": None if shown.result is None else _result(shown),
    }
    return payload_of(header, view, blobs)


def _source(trace: Any) -> str:
    text = trace.src_text if trace.sentences[0].src else trace.tgt_text
    return display(text if len(text) <= _MOST_SOURCE else f"{text[:_MOST_SOURCE].rstrip()} …")


def _step(pair: Pair, number: int, row: int, difference: float) -> dict[str, Any]:
    """Return a row's input, its output in the clean run, and how far the clean and the changed run's
    predictions differ.
    """
    sentence = pair.clean.sentences[0]
    if not sentence.tgt:
        goes_in, comes_out = sentence.src[row], None
    else:
        goes_in, comes_out = sentence.tgt_in[row], sentence.tgt_out[row]
    named = display_token(comes_out) if comes_out is not None and comes_out.id >= 0 else ""
    return {"step": number, "input": display_token(goes_in), "output": named, "difference": difference,
            "entries": entries([goes_in if comes_out is None else comes_out])}  # fmt: skip


def _measure(shown: ShownPair, metric: Any, clean: float, changed: float) -> dict[str, Any]:
    """Pack a metric for the browser: its two tokens, and their logit difference in the clean and in the changed run."""
    return {"a": shown.names(metric.a), "b": shown.names(metric.b), "clean": clean, "changed": changed}


def _matrices(model: Model, shown: ShownPair, blobs: Blobs) -> list[dict[str, Any]]:
    return [
        *(
            _stream(model, one, shown.matrices, blobs) | _spans(shown.pair.changed, one)
            for one in shown.matrices.streams
        ),
        *(_heads(model, shown, kind, blobs) for kind in model.kinds),
    ]


def _spans(changed: Trace, found: PatchedStream) -> dict[str, Any]:
    """Return the conversation turns among the column tokens, or {} if the text has no turns."""
    spans = () if found.stack == "encoder" else changed.sentences[0].spans
    told = told_spans(move_spans(spans, 0, len(found.tokens)))
    return {"spans": told} if told else {}


def _heads(model: Model, shown: ShownPair, kind: Any, blobs: Blobs) -> dict[str, Any]:
    """Pack the matrix of one attention kind, with a row per layer and a column per head."""
    layers, heads = model.shapes[kind]
    found = shown.matrices.heads
    mine = [at for at, place in enumerate(found.places) if place[0] == kind]
    assert found.control is not None  # the tab always has a control
    numbers = shown.pair.changed.numbers.get(kind, ())
    return {
        "where": kind,
        "title": f"{KINDS[kind].name}: each head",
        "first_layer": 0,
        "size": [layers, heads],
        "cols": [f"H{head}" for head in range(heads)],
        "col_entries": [],
        "layer_numbers": list(numbers),
        **_numbers(found, mine, (layers, heads), blobs),
        "state": blobs.add(np.zeros(layers * heads, dtype=np.uint8)),
    }


def _stream(model: Model, found: PatchedStream, of: Matrices, blobs: Blobs) -> dict[str, Any]:
    """Pack the matrix of one stack, with a row for the embedding and each layer and a column per token."""
    assert found.outside is not None and found.alone is not None and found.left_out is not None  # noqa: PT018
    state = np.full(found.patched.shape, MEASURED, dtype=np.uint8)
    state[found.left_out.numpy()] = LEFT_OUT
    state[:, found.alone.numpy()] = ALONE
    state[found.outside.numpy()] = OUTSIDE
    whole = list(range(found.patched.numel()))
    return {
        "where": found.stack,
        "title": _title(model, found.stack),
        "first_layer": -1,
        "size": list(found.patched.shape),
        "cols": [display_token(token) for token in found.tokens],
        "col_entries": [entries([token]) for token in found.tokens],
        "layer_numbers": [],
        **_numbers(found, whole, found.patched.shape, blobs),
        "state": blobs.add(state),
    }


def _title(model: Model, stack: Stack) -> str:
    return _STACKS[stack] if "cross" in model.kinds else _STACKS[stack].partition(": ")[2].capitalize()


def _numbers(found: Restored, at: list[int], shape: Sequence[int], blobs: Blobs) -> dict[str, int]:
    """Pack the share, the control's change and the metric, each of shape `shape`, float32; NaN if not measured."""
    assert found.control is not None  # the tab always has a control
    pieces = {"share": found.share, "moved": found.control, "patched": found.patched}
    return {name: blobs.add(_float32(numbers.flatten()[at])) for name, numbers in pieces.items()}


def _result(shown: ShownPair) -> dict[str, Any]:
    """Pack how much the cells restore together, and the texts that the model writes without and with the patches."""
    found = shown.result
    assert found is not None  # checked by the caller
    control = found.restored.control
    written = None
    if found.text is not None:
        written = [[(display(text), differs) for text, differs in runs]
                   for runs in word_differences(shown.before[:_MOST_TEXT], found.text[:_MOST_TEXT])]  # fmt: skip
    return {
        "patched": float(found.restored.patched[0]),
        "share": _number(found.restored.share[0]),
        "moved": None if control is None else _number(control[0]),
        "texts": written,
    }


def _name(pair: Pair, cell: str) -> str:
    """Return a cell in words: `cross L1 H3`, or `encoder after L1 at dog`."""
    found = Cell.parse(cell)
    if found is None:
        return cell
    if found.is_head:
        return f"{KINDS[found.where].name} L{found.layer} H{found.at}"  # type: ignore[index]
    tokens = _tokens(pair, found.where)
    text = display_token(tokens[found.at]) if found.at < len(tokens) else str(found.at)
    after = "embedding" if found.layer < 0 else f"after L{found.layer}"
    return f"{found.where} {after} at {text} #{found.at}"


def _tokens(pair: Pair, stack: str) -> Sequence[Token]:
    sentence = pair.changed.sentences[0]
    return sentence.src if stack == "encoder" else sentence.tgt_in


def _number(value: Tensor) -> float | None:
    return float(value) if math.isfinite(float(value)) else None


def _float32(numbers: Tensor) -> np.ndarray:
    return np.ascontiguousarray(torch.as_tensor(numbers).float().numpy(), dtype="<f4")


@reads_arguments
def patching_of(model: Model, trace: Trace, other: Trace | str) -> Subject:
    """Put activations of one run into another; `other` is that run, or its sentence.

    Raises ValueError for two runs that cannot be compared position by position.
    """
    to = {"to": trace.to} if trace.to else {}
    pair = pair_of(model, trace, model.trace(other, **to) if isinstance(other, str) else other)

    def caption(state: PatchState) -> Caption:
        asked = patch_question(model, pair, state)
        return replace(caption_by(trace, model), site=site_name(model, asked))

    def draw(state: PatchState) -> Payload:
        return patching(model, pair, state)

    def settle(state: PatchState, told: Mapping[str, Any], before: PatchState) -> PatchState:
        """If the visitor has moved to another step, clear the tokens that were chosen for the previous step.

        `told` is what the browser reports, which includes the step that it shows.
        """
        is_same = told.get("step") in (None, patch_question(model, pair, before).step)
        return state if is_same else replace(state, a="", b="", c="", d="")

    rows = max(pair.rows, default=0) + 1
    return Subject(PatchState(), draw, caption, {"step": rows}, silent=("changed",), settle=settle,
                   trace=trace)  # fmt: skip
