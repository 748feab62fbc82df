"""Picture of patching between two runs: the matrices of one step, and the result of jointly patched cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from attnviz.analysis.cancellable import TO_THE_END, Cancellable
from attnviz.causes.numbers.joint_patches import Cell, patch_jointly
from attnviz.causes.numbers.logit_difference import LogitDifference
from attnviz.causes.numbers.matrices import Matrices, matrices
from attnviz.causes.numbers.pair import Pair, written_under
from attnviz.causes.patching.patching import ShownPair, patching_payload
from attnviz.causes.pictures.one_token import id_of, name_of
from attnviz.kit.caching import Cache, make_anew
from attnviz.kit.fields import PageState, Say, choice, declare, text, whole_number
from attnviz.kit.wire import Payload
from attnviz.models.protocol import Model
from attnviz.text.limits import MAX_CHARACTERS

MOST_CELLS = 200
_MOST_TOKEN = 200


def _cells(asked: str, bound: object, default: tuple[str, ...], say: Say) -> tuple[str, ...]:
    """Parse the cells that a link patches."""
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
