"""The Masks page's bench: one head of a run or of a batch of two, its re-runs remembered."""

from dataclasses import dataclass

import streamlit as st

from attnviz.analysis.masks.effect import Effect, Refused
from attnviz.analysis.rerun import Writing, batch_of_two
from attnviz.pictures.masks import MaskBench, MasksState
from attnviz.tracing.trace import Trace
from attnviz.ui.cache import budget, traces
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.request import Request


@dataclass(frozen=True, eq=False)
class MaskExperiment(MaskBench):
    """A bench that remembers for all visitors what the model computed and wrote; `request` is what was run."""

    request: Request

    def effect(self) -> Effect | Refused:
        """Run the model again with the mask on, or return it from the cache."""
        after = _again.get(self._key(self._settings), read=lambda *_: self._masked_run())
        # Cached without the run before, which has a cache of its own.
        return after if isinstance(after, Refused) else Effect(self.trace, after, self.probe(writing=False))

    def _masked_run(self) -> Trace | Refused:
        found = super().effect()
        return found if isinstance(found, Refused) else found.after

    def written_up_to(self, step: int) -> Trace:
        """Run the pass that writing makes at a decoder row with the mask on, or return it from the cache."""
        up_to = super().written_up_to
        made = _again.get(self._key((*self._settings, "up to", step)), read=lambda *_: up_to(step))
        assert not isinstance(made, Refused)  # a refusal is raised here, and met by `effect` before
        return made

    def start_writing(self) -> Writing:
        """Return what the model has written so far with the mask."""
        return _cached_writing(self._key(self._settings), super().start_writing)

    def unmasked_writing(self) -> Writing:
        """Return what the model has written so far without the mask; all masks share it."""
        return _cached_writing(self._key(()), super().unmasked_writing)

    @property
    def _settings(self) -> tuple:
        view = self.view
        return (view.kind, view.layer, view.head, view.rules, view.paint, view.choice, view.scope)

    def _key(self, what: tuple) -> str:
        request = (self.request.entry.name, self.trace.model_id, *self.request.to_params().values())
        return repr((request, self.view.second, what))


def mask_experiment(request: Request, trace: Trace, view: MasksState) -> MaskExperiment:
    """Put a view on the bench. Raises ValueError for a second sentence that cannot be read."""
    model, second = traces.model(request.entry.name), view.second.strip()
    if second:
        asked = repr((trace.model_id, request.to_params(), second))
        alone = trace
        how = {"to": alone.to, "interventions": alone.interventions}
        trace = _batches.get(asked, read=lambda *_: batch_of_two(model, alone, traces.run(model, second, **how)))
    return MaskExperiment(model, trace, view, request)


# By size, as `session` keeps traces, and beside its room. A run that torch refused is what it said.
_batches: BoundedCache[str, Trace] = BoundedCache(most=budget.bytes_for("batches"), size=lambda batch: batch.nbytes())
_again: BoundedCache[str, Trace | Refused] = BoundedCache(
    most=budget.bytes_for("masked runs"),
    size=lambda after: len(after.error) if isinstance(after, Refused) else after.nbytes(),
)


@st.cache_resource(max_entries=64, show_spinner=False)
def _cached_writing(key: str, _begin) -> Writing:
    return _begin()
