"""What tabs of this page compute of a run, once for all who ask the same."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from attnviz.tracing.trace import Trace
from attnviz.ui.cache import threads
from attnviz.ui.cache.bounded import BoundedCache

Made = TypeVar("Made")
_results: BoundedCache[Any, Any] = BoundedCache(most=256)  # matrices, texts, lenses: some kilobytes each


def once(
    name: tuple, of: Sequence[Trace], make: Callable[[], Made], *, results: BoundedCache[Any, Any] = _results
) -> Made:
    """What `make` returns of these runs, kept under `name`; `results` is where, if not with the others."""

    def run(*_: Any) -> Made:
        sentence = of[0].sentences[0]
        with threads.enough_for(max(len(sentence.src_text), len(sentence.tgt_text))):
            return make()

    return results.get((name, *map(_run, of)), read=run)


def _run(trace: Trace) -> tuple:
    """A run, by all that it is made from."""
    return trace.model_id, trace.info.dtype, trace.sentences, tuple(each.digest for each in trace.interventions)
