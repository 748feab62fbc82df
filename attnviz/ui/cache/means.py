"""Mean contexts of heads, measured once for all visitors, and interventions filled with these means."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from attnviz.ui import hosting
from attnviz.ui.cache import threads
from attnviz.ui.cache.bounded import BoundedCache, Progress

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.causes.intervention import Intervention, MeanContexts

_SENTENCE = 60  # characters: how long those are that it is measured on
_means: "BoundedCache[tuple[str, str], MeanContexts]" = BoundedCache(most=32)  # some ten to some hundred kilobytes each


def means(loaded: "Model", to: str, progress: Progress | None = None) -> "MeanContexts":
    """Measure the mean of each head of a model, into a language that it writes; `progress` reports.

    Raises ValueError, one sentence, for a model that cannot read the sentences that it is measured on.
    """
    return _means.get((loaded.model_id, to), progress, read=lambda _, tell: _measure(loaded, to, tell))


def with_means(
    loaded: "Model", asked: "Sequence[Intervention]", to: str, progress: Progress | None = None
) -> "tuple[Intervention, ...]":
    """Interventions with the numbers of the means that they ask for. Raises ValueError as `means` does."""
    if not any(each.is_unmeasured for each in asked):
        return tuple(asked)
    from attnviz.analysis.causes.baselines.means import fill_means as put

    return put(asked, means(loaded, to, progress))


def _measure(loaded: "Model", to: str, progress: Progress | None) -> "MeanContexts":
    from attnviz.analysis.causes.baselines.means import reference_means
    from attnviz.analysis.corpus.cancellable import Cancellable

    place = st.empty()

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(done / total, f"Measuring the heads' average outputs: {done} of {total} sentences")
        hosting.give_way(place)

    with threads.enough_for(_SENTENCE):
        return reference_means(loaded, to, stop=Cancellable(tell))
