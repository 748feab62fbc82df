"""The mask bench of the page Masks, which caches its reruns of the model."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import streamlit as st
from torch import Tensor

from attnviz.analysis.rerun import Writing, batch_of_two
from attnviz.app import hosting
from attnviz.app.cache import bounded, budget, traces
from attnviz.app.cache.bounded import BoundedCache
from attnviz.app.progress import run_then_give_way
from attnviz.app.request import Request
from attnviz.masks.masks import MaskBench, MasksState
from attnviz.masks.numbers.effect import Effect, Refused
from attnviz.masks.numbers.hidden_patches import run_without
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace

FIRST, PIECE = 0.04, 0.1  # seconds of writing for the first piece, and for each later one


@dataclass(frozen=True, eq=False)
class MaskExperiment(MaskBench):
    """A mask bench that shares cached runs and texts with all visitors. `request` is the run that is shown."""

    request: Request

    def effect(self) -> Effect | Refused:
        """Run the model again with the mask, or return the cached run."""
        after = _again.get(self._key(self._settings), read=lambda *_: run_then_give_way(self._masked_run))
        # Only the masked run is cached; the unmasked run has its own cache.
        return after if isinstance(after, Refused) else Effect(self.trace, after, self.probe(writing=False))

    def _masked_run(self) -> Trace | Refused:
        found = super().effect()
        return found if isinstance(found, Refused) else found.after

    def written_up_to(self, step: int) -> Trace:
        """Run the model with the mask on the target up to row `step`, as in generation, or return the cached run."""
        up_to = partial(super().written_up_to, step)
        made = _again.get(self._key((*self._settings, "up to", step)), read=lambda *_: run_then_give_way(up_to))
        assert not isinstance(made, Refused)  # a refusal would have been raised
        return made

    def start_writing(self) -> Writing:
        """Return the text that the model has written so far with the mask."""
        return self._masked_text

    def unmasked_writing(self) -> Writing:
        """Return the text that the model has written so far without the mask, which all masks share."""
        return self._unmasked_text

    # Also kept on this object, because a text evicted while it is written would be restarted forever.
    @cached_property
    def _masked_text(self) -> Writing:
        begin = super().start_writing
        return _writings.get(self._key(self._settings), read=lambda *_: begin())

    @cached_property
    def _unmasked_text(self) -> Writing:
        begin = super().unmasked_writing
        return _writings.get(self._key(()), read=lambda *_: begin())

    @property
    def _settings(self) -> tuple:
        view = self.view
        return (view.kind, view.layer, view.head, view.rules, view.paint, view.choice, view.scope)

    def _key(self, what: tuple) -> str:
        request = (self.request.entry.name, self.trace.model_id, *self.request.to_params().values())
        return repr((request, self.view.second, what))


def mask_experiment(request: Request, trace: Trace, view: MasksState) -> MaskExperiment:
    """Make the `MaskExperiment` of the page Masks: one head of the run under the chosen mask.

    Raise ValueError if the second sentence cannot be tokenized.
    """
    model, second = traces.model(request.entry.name), view.second.strip()
    if second:
        asked = repr((trace.model_id, request.to_params(), second))
        alone = trace

        def run_both(*_: object) -> Trace:
            how = {"to": alone.to, "interventions": alone.interventions}
            other = run_then_give_way(lambda: traces.run(model, second, **how))
            return run_then_give_way(lambda: batch_of_two(model, alone, other))

        trace = _batches.get(asked, read=run_both)
    return MaskExperiment(model, trace, view, request)


def hidden_run(request: Request, model: Model, trace: Trace, seen: Tensor) -> Trace:
    """Run the model on an image, of which only the `seen` tokens may be attended to, or return the cached run."""
    key = repr((request.entry.name, trace.model_id, *request.to_params().values(), "seen", seen.tolist()))
    made = _again.get(key, read=lambda *_: run_then_give_way(lambda: run_without(model, trace, seen)))
    assert not isinstance(made, Refused)  # a refusal would have been raised
    return made


# Caches bounded by bytes. For a run that torch refused, the error message is cached.
_batches: BoundedCache[str, Trace] = BoundedCache(most=budget.bytes_for("batches"), size=lambda batch: batch.nbytes())
_again: BoundedCache[str, Trace | Refused] = BoundedCache(
    most=budget.bytes_for("masked runs"),
    size=lambda after: len(after.error) if isinstance(after, Refused) else after.nbytes(),
)


# Bounded by the bytes of the traces that unfinished texts hold.
_writings: BoundedCache[str, Writing] = BoundedCache(
    most=budget.bytes_for("written under masks"), size=lambda text: text.nbytes()
)


def drawn_while_written(bench: MaskExperiment, draw: Callable[[], object]) -> None:
    """Redraw the generated text after each piece until it is complete. The visitor's next edit can interrupt this."""
    slot, queue = st.empty(), st.empty()
    is_whole = _write(bench, FIRST)
    while True:
        with slot.container():
            draw()
        if is_whole:
            return
        hosting.give_way(queue)
        is_whole = _write(bench, PIECE)


def _write(bench: MaskExperiment, seconds: float) -> bool:
    """Let the model write for some seconds; return whether both texts, with and without the mask, are complete."""
    if not bench.model.writes:
        return True
    ways = [bench.start_writing(), bench.unmasked_writing()]
    if going := [way for way in ways if not way.done]:
        bounded.with_room(lambda: going[0].go_on(seconds))
    return all(way.done for way in ways)
