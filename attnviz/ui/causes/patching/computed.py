"""What the Patch tab computes, once for all who ask the same: the pair, its matrices, and cells in force."""

from collections.abc import Sequence
from typing import Any

from attnviz.analysis.causes.pairs.in_place import Cell, InPlace, in_place
from attnviz.analysis.causes.pairs.matrices import Matrices, matrices
from attnviz.analysis.causes.pairs.pair import Pair, pair_of, written_under
from attnviz.analysis.causes.patching import LogitDifference
from attnviz.analysis.causes.runs import Tell
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.ui.cache.bounded import BoundedCache
from attnviz.ui.causes.once import once

_PAIRS = 2e8  # bytes of the runs that pairs hold besides those that are cached as traces
_pairs: BoundedCache[Any, Pair] = BoundedCache(most=_PAIRS, size=lambda pair: pair.changed.nbytes())


def paired(model: Model, clean: Trace, other: Trace) -> Pair:
    """The two runs side by side. Raises ValueError where they are none."""
    return once(("pair",), (clean, other), lambda: pair_of(model, clean, other), results=_pairs)


def of_step(model: Model, pair: Pair, metric: LogitDifference, control: LogitDifference, tell: Tell) -> Matrices:
    """All matrices at one step; `tell(done, total)` hears how far each is."""
    name = ("matrices", metric, control)
    return once(name, _runs(pair), lambda: matrices(model, pair, metric, control, tell=tell))


def in_force(model: Model, pair: Pair, of: Matrices, cells: Sequence[str]) -> InPlace:
    """What the cells do together. Raises ValueError for one that there is not."""
    asked = [cell for text in cells if (cell := Cell.of(text)) is not None]
    name = ("in place", of.metric, of.control, *cells)
    return once(name, _runs(pair), lambda: in_place(model, pair, of.metric, asked, of.control))


def written_before(model: Model, pair: Pair) -> str:
    """What the model writes by itself for the run that is patched, before it is."""
    return once(("written",), _runs(pair), lambda: written_under(model, pair.changed))


def _runs(pair: Pair) -> tuple[Trace, Trace]:
    return pair.clean, pair.changed
