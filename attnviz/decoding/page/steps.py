"""The tab "Step by step": the training pass, the decoding steps, and whether both compute the same values.

Runs are kept in a bounded cache, so that a repeated request is answered at once. The run of a long prompt takes
hundreds of megabytes, so it is kept only while a visitor has it open.
"""

from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakSet

import streamlit as st

from attnviz.app import captions, layout, mount
from attnviz.app.address import navigation, persistent, share
from attnviz.app.cache import budget, traces
from attnviz.app.cache.bounded import BoundedCache, give_memory_back
from attnviz.app.frame.page import current_page
from attnviz.app.progress import forget, is_stopped, show_steps, work_without_bar
from attnviz.app.reports import NUMBER, reported_value
from attnviz.app.request import Request
from attnviz.decoding import decoding
from attnviz.decoding.decoding import DecodingInput, DecodingState
from attnviz.decoding.numbers.comparison import Decoded
from attnviz.decoding.page import controls, extras, verdict
from attnviz.decoding.page.controls import COMPONENT, PLACE_SHOWN, adopt
from attnviz.decoding.stepper import can_open_heads, is_target, stepper
from attnviz.kit.glossary import definition
from attnviz.models.decoding_record import DecodingRows
from attnviz.models.protocol import ExplainsSteps, Model
from attnviz.models.translator.translator import Translator
from attnviz.text.limits import cuts_are_shown
from attnviz.tracing.trace import Trace

LARGE = 16e6  # bytes; larger runs are dropped once no visitor has them open
_KEY, _OPEN = "decoding-steps", "_attnviz_open_decoding"

# Bounded by bytes: a sentence's run takes a few megabytes, that of a long prompt hundreds.
_runs: BoundedCache[str, Decoded] = BoundedCache(most=budget.bytes_for("decodings"), size=lambda run: run.nbytes())


def draw(request: Request) -> None:
    """Draw the tab Step by step, and the status bar at the end of the page."""
    trace = layout.trace_or_refuse(request, traces.full_trace)
    asked = controls.current_state(trace, request.entry)
    model = traces.model(request.entry.name)
    is_own = isinstance(model, Translator)
    upper, lower, below = st.container(key="decoding-stage"), st.container(key="decoding-lower"), st.container()
    with below:
        chosen = controls.draw_stepping(asked, is_own=is_own)
        chosen |= controls.draw_switches(asked, is_own=is_own)
        chosen |= controls.draw_part_choice(asked)
        chosen |= controls.experiment(asked)
    view = controls.join_choices(asked, chosen)
    run = layout.run_or_refuse(lambda: run_decoding(model, request, trace, view))
    with upper:
        _draw_stepper(model, request, trace, view, run)
    with lower:
        verdict.number(run, view, trace.interventions, note=_note(model, run, view))
    with below:
        extras.draw_part(model, view, run)
    layout.end_page(request, trace, view)


def _note(model: Model, run: Decoded, view: DecodingState) -> str:
    """Return the model's own note on its decoding steps if the verdict fails although the visitor broke nothing, else
    "".
    """
    if run.verdict.holds or view.broken_switches or not isinstance(model, ExplainsSteps):
        return ""
    return model.explain_steps([token.id for token in run.made.fed])


@dataclass(eq=False)
class _OpenRun:
    """The run that one visitor has open: its name in the cache, and its steps until they are complete."""

    name: str
    rows: DecodingRows | None = None


_open_runs: "WeakSet[_OpenRun]" = WeakSet()  # entries disappear with their visitors' sessions


def run_decoding(model: Model, request: Request, trace: Trace, view: DecodingState) -> Decoded:
    """Decode what the page shows, or return it from the cache.

    If the visitor stopped the decoding, return the steps made so far. Raise ValueError with a message of one sentence.
    """
    name = repr((request, trace.model_id, _ids(trace), view.computed_options()))
    asked = DecodingInput(request.src, request.to, request.new, request.messages)
    run = partial(decoding.run_decoding, model, trace, view.computed_options(), asked=asked)
    opened = _note_open_run(name)
    if is_stopped(_KEY, name) and (found := _stopped_run(opened, run, model, view)):
        return found

    def read(*_) -> Decoded:
        opened.rows = DecodingRows()
        with show_steps(_KEY, name, "Decoding step by step") as work, cuts_are_shown():
            made = run(stepping=_stepping_model(model, view.dtype), work=work, rows=opened.rows)
        opened.rows = None
        return made

    was_there = name in _runs
    made = _runs.get(name, read=read)
    if not was_there and made.nbytes() > LARGE:
        give_memory_back()  # return the run's temporary memory
    return made


def _stopped_run(opened: _OpenRun, run: "partial[Decoded]", model: Model, view: DecodingState) -> Decoded | None:
    """Compare the steps that were made before the visitor stopped; None if there are none."""
    if opened.rows is None or not opened.rows.count:
        forget(_KEY)
        return None
    rows = opened.rows
    stopped = replace(work_without_bar(), should_stop=lambda: True)
    stepping = _stepping_model(model, view.dtype)
    layout.note(f"Decoding was stopped after {rows.count} steps.")
    current_page().above.button("Run all steps", key=f"{_KEY}-again", on_click=forget, args=(_KEY,),
                                help=definition("Run all steps"))  # fmt: skip
    return _runs.get(f"{opened.name} {rows.count}", read=lambda *_: run(stepping=stepping, work=stopped, rows=rows))


def _note_open_run(name: str) -> _OpenRun:
    """Record the run that this visitor has open, and release the previous one."""
    current_page().when_left[_KEY] = _leave_run
    found: _OpenRun | None = st.session_state.get(_OPEN)
    if found is not None and found.name == name:
        return found
    if found is not None:
        _open_runs.discard(found)
    opened = st.session_state[_OPEN] = _OpenRun(name)
    _open_runs.add(opened)
    _drop_left_runs()
    return opened


def _leave_run() -> None:
    """Note that this visitor no longer has a cached run open, and remove the cached runs that nobody has open."""
    found = st.session_state.pop(_OPEN, None)
    if found is not None:
        _open_runs.discard(found)
    _drop_left_runs()


def _drop_left_runs() -> None:
    """Remove large runs that no visitor has open from the cache, and return their memory to the system."""
    used = tuple(run.name for run in _open_runs)
    left = {name for name in _runs.names if not name.startswith(used) and _is_large(name)}
    if left:
        _runs.forget(left.__contains__)
        give_memory_back()


def _is_large(name: str) -> bool:
    found = _runs.find(name)
    return found is not None and found.nbytes() > LARGE


def _ids(trace: Trace) -> tuple[int, ...]:
    return tuple(token.id for token in trace.sentences[0].tgt)


def _stepping_model(model: Model, dtype: str) -> Model:
    return model if dtype == "float32" else _copy_in_dtype(model.model_id, dtype, model)


@st.cache_resource(max_entries=2, show_spinner="Making a copy of the model …")
def _copy_in_dtype(weights: str, dtype: str, _model: Model) -> Model:
    return decoding.copy_in_dtype(_model, dtype)


def _draw_stepper(model: Model, request: Request, trace: Trace, view: DecodingState, run: Decoded) -> None:
    """Draw the Stepper component."""
    captions.set_caption(
        trace, request.entry, written=None if is_target(run, trace) else model.decode_ids(run.made.ids)[0]
    )
    st.session_state[PLACE_SHOWN] = {"step": _shown_step(view, run), "layer": view.layer, "head": view.head}
    payload = captions.add_caption(stepper(model, trace, view, run=run))
    mount.stepper(payload, key=COMPONENT, on_change=adopt, on_open=lambda: _open_heads(model, trace, view, run))
    if navigation.is_going():
        st.rerun()


def _shown_step(view: DecodingState, run: Decoded) -> int:
    """Return the step that is shown: the one in the view if it exists, otherwise the last."""
    last = len(run.made.chosen) - 1
    return last if view.step is None else min(view.step, last)


def _open_heads(model: Model, trace: Trace, view: DecodingState, run: Decoded) -> None:
    """Make the next rerun open the page Heads with the decoded sentence, the row of the step pinned, and the
    head in view.
    """
    asked = reported_value(COMPONENT, "open", {"step": NUMBER})
    if asked is None or not can_open_heads(model, trace, run):
        return
    made = run.made
    own = is_target(run, trace)
    tgt = "" if not model.inputs.takes_target else share.target(trace) if own else model.decode_ids(made.ids)[0]
    kind = next((kind for kind in ("cross", "decoder_self") if kind in made.attn), "encoder_self")
    row = str(min(max(asked["step"], 0), len(made.chosen) - 1))
    there = {"kind": kind, "row": row, "layer": str(view.layer), "head": str(view.head), "tab": "", "zoom": ""}
    navigation.send("Heads", persistent.link_to("Heads", there | {"tgt": tgt}))
