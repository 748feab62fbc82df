"""What the Patch tab computes, once for all who ask the same: the pair, its matrices, and cells in force."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from attnviz.analysis.causes.pairs.in_place import Cell, InPlace, in_place
from attnviz.analysis.causes.pairs.matrices import Matrices, matrices
from attnviz.analysis.causes.pairs.pair import Pair, pair_of, written_under
from attnviz.analysis.causes.patching import LogitDifference
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.ui.cache import threads
from attnviz.ui.cache.bounded import BoundedCache

Made = TypeVar("Made")
_PAIRS = 2e8  # bytes of the runs that pairs hold besides those that are cached as traces
_pairs: BoundedCache[Any, Pair] = BoundedCache(most=_PAIRS, size=lambda pair: pair.changed.nbytes())
_results: BoundedCache[Any, Any] = BoundedCache(most=128)  # matrices and texts: some kilobytes each


def paired(model: Model, clean: Trace, other: Trace) -> Pair:
    """The two runs side by side. Raises ValueError where they are none."""
    return _pairs.get((_name(clean), _name(other)), read=lambda *_: _run(clean, lambda: pair_of(model, clean, other)))


def of_step(model: Model, pair: Pair, metric: LogitDifference, control: LogitDifference) -> Matrices:
    """All matrices at one step."""
    return _once(("matrices", metric, control), pair, lambda: matrices(model, pair, metric, control))


def in_force(model: Model, pair: Pair, of: Matrices, cells: Sequence[str]) -> InPlace:
    """What the cells do together. Raises ValueError for one that there is not."""
    asked = [cell for text in cells if (cell := Cell.of(text)) is not None]
    name = ("in place", of.metric, of.control, *cells)
    return _once(name, pair, lambda: in_place(model, pair, of.metric, asked, of.control))


def written_before(model: Model, pair: Pair) -> str:
    """What the model writes by itself for the run that is patched, before it is."""
    return _once(("written",), pair, lambda: written_under(model, pair.changed))


def _once(name: tuple, pair: Pair, make: Callable[[], Made]) -> Made:
    asked = (name, _name(pair.clean), _name(pair.changed))
    return _results.get(asked, read=lambda *_: _run(pair.clean, make))


def _run(trace: Trace, make: Callable[[], Made]) -> Made:
    sentence = trace.sentences[0]
    with threads.enough_for(max(len(sentence.src_text), len(sentence.tgt_text))):
        return make()


def _name(trace: Trace) -> tuple:
    """A run, by all that it is made from."""
    return trace.model_id, trace.info.dtype, trace.sentences, tuple(each.digest for each in trace.interventions)
