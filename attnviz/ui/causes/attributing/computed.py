"""What the Attribute tab computes, once for all who ask the same."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from attnviz.analysis.causes.attribution import LogitOf
from attnviz.analysis.causes.lens import LogitLens, encoder_lens, logit_lens
from attnviz.analysis.causes.parts.drops import drops
from attnviz.analysis.causes.parts.explained import SplitModel
from attnviz.analysis.causes.runs import HeadPlace
from attnviz.models.protocol import Model
from attnviz.tracing.trace import Trace
from attnviz.ui.cache import threads
from attnviz.ui.cache.bounded import BoundedCache

Made = TypeVar("Made")
_splits: BoundedCache[Any, SplitModel] = BoundedCache(most=4)  # of a large model some hundred megabytes
_results: BoundedCache[Any, Any] = BoundedCache(most=128)
_LONG = 48  # tokens: of a longer text a lens tells fewer candidates
_MANY, _FEW = 5, 2


def split(model: Model, trace: Trace) -> SplitModel:
    """How this run's logits are taken apart. Raises ValueError for a model whose logits are no such sum."""
    return _splits.get(_name(trace), read=lambda *_: _run(trace, lambda: SplitModel.of(model, trace)))


def fallen(model: Model, trace: Trace, asked: LogitOf) -> Mapping[HeadPlace, float]:
    """What the logit loses without each head."""
    return _once(("drops", asked), trace, lambda: drops(model, trace, asked))


def lenses(model: Model, trace: Trace, weight: Any, asked: LogitOf) -> tuple[LogitLens, LogitLens | None]:
    """Of the stack that puts tokens out, and of an encoder beside a decoder."""

    def made() -> tuple[LogitLens, LogitLens | None]:
        sentence = trace.sentences[0]
        count = _MANY if max(len(sentence.src), len(sentence.tgt)) <= _LONG else _FEW
        beside = encoder_lens(model, trace, weight, count=count) if "cross" in model.kinds else None
        return logit_lens(model, trace, count=count, wanted={asked.row: asked.id}), beside

    return _once(("lens", asked.row, asked.id), trace, made)


def _once(name: tuple, trace: Trace, make: Callable[[], Made]) -> Made:
    return _results.get((name, _name(trace)), read=lambda *_: _run(trace, make))


def _run(trace: Trace, make: Callable[[], Made]) -> Made:
    sentence = trace.sentences[0]
    with threads.enough_for(max(len(sentence.src_text), len(sentence.tgt_text))):
        return make()


def _name(trace: Trace) -> tuple:
    """A run, by all that it is made from."""
    return trace.model_id, trace.info.dtype, trace.sentences, tuple(each.digest for each in trace.interventions)
