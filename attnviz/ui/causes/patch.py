"""What one run's numbers do in another run."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui import captions, layout
from attnviz.ui.address import persistent
from attnviz.ui.cache import traces
from attnviz.ui.causes import progress
from attnviz.ui.causes.one_token import id_of, name_of, token_list
from attnviz.ui.causes.patching import changed
from attnviz.ui.causes.patching.state import PatchState
from attnviz.ui.causes.state import current
from attnviz.ui.mount import patching
from attnviz.ui.reported import OPTIONAL_NUMBER, TEXT, reported
from attnviz.ui.request import Request

if TYPE_CHECKING:
    from attnviz.analysis.causes.pairs.matrices import Matrices
    from attnviz.analysis.causes.pairs.pair import Pair
    from attnviz.analysis.causes.patching import LogitDifference
    from attnviz.models.protocol import Model
    from attnviz.tracing.trace import Trace

COMPONENT = "patching"
_SHOWN = "patching-shown"
_PAIR = "patching-pair"
_TELLS = (
    "Type a second sentence that differs from the one above in one word, or choose a pair from the list. Numbers of "
    "one run are then put into the other, and the picture shows which of them bring the answer back."
)


def draw(request: Request, loaded: "Model", trace: "Trace") -> PatchState:
    """Draw the tab; what a link to it carries."""
    view = current(PatchState, {})
    changed.bar(view.changed)
    if not view.changed.strip():
        st.info(_TELLS, icon=":material/swap_horiz:")
        changed.ready()
        return view
    view = _of_these(request, view)
    pair = layout.run_or_refuse(lambda: _pair(request, loaded, view))
    asked = _asked(loaded, pair, view)
    if asked is None:
        return view
    shown = replace(view, put=_known(asked, view.put))
    _picture(loaded, asked, shown)
    return shown


def _of_these(request: Request, view: PatchState) -> PatchState:
    """The view, less what was chosen for two other sentences, where cells and steps were other words."""
    now = (request.entry.name, request.src, request.to, view.changed)
    before, st.session_state[_PAIR] = st.session_state.get(_PAIR, now), now
    chosen = ("step", "a", "b", "c", "d", "put")
    if before == now or any(name in persistent.texts().linked for name in chosen):
        return view
    persistent.write(dict.fromkeys(chosen))
    fresh = PatchState()
    return replace(view, **{name: getattr(fresh, name) for name in chosen})


@dataclass(frozen=True, eq=False)
class _AskedOfPair:
    """The pair in the direction that is asked for, the row of its clean run, and what is measured there."""

    base: "Pair"
    pair: "Pair"
    step: int
    row: int
    matrices: "Matrices"


def _pair(request: Request, loaded: "Model", view: PatchState) -> "Pair":
    """Both runs. Raises ValueError with one sentence."""
    from attnviz.ui.causes.patching import computed

    plain = replace(request, new=0)  # a prompt's answer is what comes next; no continuation is compared
    return computed.paired(loaded, traces.trace(plain), traces.trace(replace(plain, src=view.changed, tgt="")))


def _asked(loaded: "Model", pair: "Pair", view: PatchState) -> _AskedOfPair | None:
    """What the view asks of the pair; what it asks wrongly is said, and what the runs suggest takes its place. None
    where somebody stopped it.
    """
    from attnviz.ui.causes.patching import computed

    step = pair.most_different if view.step is None else view.step
    if step not in pair.rows:
        if "step" in persistent.texts().linked:
            layout.note(f"Step {step} has no place in both runs: shown is the one where they differ most.")
        step = pair.most_different
    metric = _metric(loaded, pair, step, (view.a, view.b)) or pair.metric(step)
    own = (view.c, view.d) if view.c and view.d else None
    control = (_metric(loaded, pair, step, own) if own else None) or pair.control(step, metric)
    if {control.a, control.b} == {metric.a, metric.b}:
        layout.warn("The control pair is the metric itself. Choose two other tokens that should not move.")
        control = pair.control(step, metric)
    with st.container(horizontal=True, vertical_alignment="bottom", key="patch-tokens"):
        changed.direction(view.way)
        _lists(loaded, pair, step, metric, control)
    turned = view.way == "out"
    into, row = (pair.turned(), pair.rows[step]) if turned else (pair, step)
    asked, stays = (into.measured(row, each.a, each.b) for each in (metric, control))

    def run(tell: progress.Tell) -> "Matrices":
        return layout.run_or_refuse(lambda: computed.of_step(loaded, into, asked, stays, tell))

    what = (into.clean.sentences, into.changed.sentences, asked, stays)
    found = progress.stoppable("patching", what, "Patching each place in turn", run)
    return None if found is None else _AskedOfPair(pair, into, step, row, found)


def _metric(loaded: "Model", pair: "Pair", step: int, asked: tuple[str, str]) -> "LogitDifference | None":
    """The lead of one token over another; None, with a sentence above the picture, for one that cannot be."""
    try:
        return pair.metric(step, *(id_of(loaded, pair.clean, text) for text in asked))
    except ValueError as error:
        layout.warn(str(error))
        return None


def _lists(loaded: "Model", pair: "Pair", step: int, metric: "LogitDifference", control: "LogitDifference") -> None:
    """Lists of the four tokens."""
    likely = pair.likely(step)
    ids = dict.fromkeys([*(id_ for id_, _, _ in likely), metric.a, metric.b, control.a, control.b])
    names = {f"#{id_}": name_of(loaded, id_) for id_ in ids}
    names |= {f"#{id_}": f"{names[f'#{id_}']} · {here:.2f} | {there:.2f}" for id_, here, there in likely}
    options = [f"#{id_}" for id_, _, _ in likely]
    chosen = {"a": ("Token a", metric.a), "b": ("Token b", metric.b), "c": ("Control a", control.a),
              "d": ("Control b", control.b)}  # fmt: skip
    for name, (label, id_) in chosen.items():
        typed = persistent.text(name)
        token_list(name, label, options, typed if typed and not typed.startswith("#") else f"#{id_}", names)


def _known(asked: _AskedOfPair, put: tuple[str, ...]) -> tuple[str, ...]:
    """The cells that this pair has."""
    from attnviz.analysis.causes.pairs.in_place import Cell

    found = asked.matrices
    places = {str(Cell(*place)) for place in found.heads.places}
    for stream in found.streams:
        assert stream.alone is not None  # `patched_stream` says it
        places |= {
            str(Cell(stream.stack, layer - 1, at))
            for layer in range(len(stream.patched))
            for at in range(len(stream.tokens))
            if not stream.alone[at]
        }
    if not found.ends.is_drawn:
        return put
    if gone := [cell for cell in put if cell not in places]:
        layout.note(f"{gone[0]} is not a cell of this pair, or has no partner in the other sentence. It is left out.")
    return tuple(cell for cell in put if cell in places)


def _picture(loaded: "Model", asked: _AskedOfPair, view: PatchState) -> None:
    from attnviz.ui.causes.patching import computed
    from attnviz.widgets.patching.payload import ShownPair, patching_payload

    found, base = asked.matrices, asked.base
    result, before = None, ""
    if view.put and found.ends.is_drawn:
        result = layout.run_or_refuse(lambda: computed.in_force(loaded, asked.pair, found, view.put))
        before = computed.written_before(loaded, asked.pair)
    turned = asked.pair is not base
    steps = [
        (step, base.rows[step] if turned else step, float(apart))
        for step, apart in zip(base.rows, base.differences, strict=True)
    ]
    shown = ShownPair(asked.pair, asked.step, steps, found, lambda id_: name_of(loaded, id_), result, before)
    told = {"step": asked.step, "put": "~".join(view.put)}
    st.session_state[_SHOWN] = told
    payload = patching_payload(loaded, shown, done=view.put, view=told)
    patching(captions.on(payload, site=_site(shown)), key=COMPONENT, on_change=adopt)


def _site(shown) -> str:
    metric = shown.matrices.metric
    texts = [trace.src_text or trace.tgt_text for trace in (shown.pair.clean, shown.pair.changed)]
    return (
        f"patched from “{texts[0][:120]}” into “{texts[1][:120]}”, "
        f"{shown.names(metric.a)} − {shown.names(metric.b)} at step {shown.step}"
    )


def adopt() -> None:
    """Take over what was chosen in the component. Another step has other tokens."""
    chosen = reported(COMPONENT, "view", {"step": OPTIONAL_NUMBER, "put": TEXT})
    before = st.session_state.get(_SHOWN, {})
    if chosen is None:
        return
    if chosen["step"] is not None and chosen["step"] != before.get("step"):
        persistent.write({"step": str(chosen["step"]), **dict.fromkeys(("a", "b", "c", "d"))})
    if chosen["put"] != before.get("put"):
        persistent.write({"put": chosen["put"] or None})
    st.session_state[_SHOWN] = before | chosen
